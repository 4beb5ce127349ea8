;; Calls a function through the table as if it were of another type.
(module
  (type $other (func (param i64)))
  (table 1 funcref)
  (elem (i32.const 0) func $plain)
  (memory (export "memory") 1)
  (func $plain)
  (func (export "_start") (call_indirect (type $other) (i64.const 0) (i32.const 0))))
