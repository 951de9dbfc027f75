;; Imports the interface that opens sockets.
;;! component: (import "wasi:sockets/tcp@0.2.0" (instance (export "tcp-socket" (type (sub resource)))))
(func $hostile (param $n i32) (result i32) (unreachable))
