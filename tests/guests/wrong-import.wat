;; The right name with the wrong type.
(module
  (import "wasi_snapshot_preview1" "fd_close" (func $close (param i64) (result i64)))
  (memory (export "memory") 1)
  (func (export "_start") (drop (call $close (i64.const 0)))))
