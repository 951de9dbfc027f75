;; Has fifty memories of 64 MiB.
;;! component: (core module $wide (memory 1024))
;;! 50 times: (core instance (instantiate $wide))
(func $hostile (param $n i32) (result i32) (unreachable))
