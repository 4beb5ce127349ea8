;; The oldest preview is another module with other numbers.
(module
  (import "wasi_unstable" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (func (export "_start") (drop (call $write (i32.const 1) (i32.const 0) (i32.const 0) (i32.const 8)))))
