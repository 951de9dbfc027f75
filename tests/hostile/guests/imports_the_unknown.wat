;; Imports an interface that does not exist.
;;! component: (import "evil:host/shell@1.0.0" (instance (export "run" (func (param "command" string)))))
(func $hostile (param $n i32) (result i32) (unreachable))
