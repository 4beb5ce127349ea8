;; Shared memory, as toolchains make it for threads.
(module
  (memory (export "memory") 1 4 shared)
  (func (export "_start") (drop (i32.atomic.rmw.add (i32.const 0) (i32.const 1)))))
