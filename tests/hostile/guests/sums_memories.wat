;; Has three memories, each within the limit and together beyond it.
;;! component: (core module $wide (memory 1024))
;;! 3 times: (core instance (instantiate $wide))
(func $hostile (param $n i32) (result i32) (unreachable))
