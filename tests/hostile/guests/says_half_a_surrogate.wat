;; Returns a JSON string with an unpaired surrogate escape.
(data (i32.const 1024) "\22\\ud800\22")
(func $hostile (param $n i32) (result i32) (call $ok (i32.const 1024) (i32.const 8)))
