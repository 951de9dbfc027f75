;; Has ten thousand core instances.
;;! component: (core module $empty)
;;! 10000 times: (core instance (instantiate $empty))
(func $hostile (param $n i32) (result i32) (unreachable))
