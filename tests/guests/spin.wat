;; Computes for ever without a call.
(module
  (memory (export "memory") 1)
  (func (export "_start") (loop $again (br $again))))
