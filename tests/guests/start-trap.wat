;; Traps in the start function, before there is an instance.
(module
  (memory (export "memory") 1)
  (func $start unreachable)
  (start $start)
  (func (export "_start")))
