;; Grows until it is refused; exits with 0 when that is an answer of -1.
(module
  (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
  (memory (export "memory") 1)
  (table $table 1 funcref)
  (func (export "_start")
    (loop $again (br_if $again (i32.ne (memory.grow (i32.const 256)) (i32.const -1))))
    (if (i32.ne (memory.grow (i32.const 65535)) (i32.const -1)) (then (call $exit (i32.const 1))))
    (if (i32.ne (table.grow $table (ref.null func) (i32.const 0x7fffffff)) (i32.const -1))
      (then (call $exit (i32.const 2))))
    ;; What was given can be used to its last byte.
    (i32.store8 (i32.sub (i32.mul (memory.size) (i32.const 65536)) (i32.const 1)) (i32.const 1))))
