;; More than any process may have.
(module (memory (export "memory") 65536) (func (export "_start")))
