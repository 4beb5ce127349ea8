;; Calls itself until the stack is exhausted; the locals keep the compiler from making it a loop.
(module
  (memory (export "memory") 1)
  (func $deeper (param $depth i64) (result i64)
    (i64.add (local.get $depth) (call $deeper (i64.add (local.get $depth) (i64.const 1)))))
  (func (export "_start") (drop (call $deeper (i64.const 0)))))
