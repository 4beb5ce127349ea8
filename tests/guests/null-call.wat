;; Calls through an empty element of its table.
(module
  (type $nothing (func))
  (table 1 funcref)
  (memory (export "memory") 1)
  (func (export "_start") (call_indirect (type $nothing) (i32.const 0))))
