(module
  (memory (export "memory") 1)
  (func (export "_start") (memory.fill (i32.const 65000) (i32.const 0) (i32.const 1000))))
