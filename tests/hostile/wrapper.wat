;; A tool around the core functions of a guest. `@…@` is filled in by `component.rs`.
(component
  (import "lathe:tool/status@0.1.0" (instance $status
    (export "send" (func (param "event" string) (result (result (error string)))))))
  (import "wasi:io/poll@0.2.0" (instance $poll
    (export "pollable" (type $pollable (sub resource)))
    (export "[method]pollable.block" (func (param "self" (borrow $pollable))))))
  (alias export $poll "pollable" (type $pollable))
  (import "wasi:io/error@0.2.0" (instance $errors (export "error" (type (sub resource)))))
  (alias export $errors "error" (type $error))
  (import "wasi:io/streams@0.2.0" (instance $streams
    (export "output-stream" (type $output (sub resource)))
    (export "input-stream" (type $input (sub resource)))
    (alias outer 1 $error (type $outer-error))
    (export "error" (type $error (eq $outer-error)))
    (type $variant (variant (case "last-operation-failed" (own $error)) (case "closed")))
    (export "stream-error" (type $stream-error (eq $variant)))
    (export "[method]output-stream.write"
      (func (param "self" (borrow $output)) (param "contents" (list u8)) (result (result (error $stream-error)))))
    (export "[method]input-stream.blocking-read"
      (func (param "self" (borrow $input)) (param "len" u64) (result (result (list u8) (error $stream-error)))))))
  (alias export $streams "output-stream" (type $output))
  (alias export $streams "input-stream" (type $input))
  (import "wasi:cli/stdout@0.2.0" (instance $stdout
    (alias outer 1 $output (type $outer))
    (export "output-stream" (type $output (eq $outer)))
    (export "get-stdout" (func (result (own $output))))))
  (import "wasi:cli/stdin@0.2.0" (instance $stdin
    (alias outer 1 $input (type $outer))
    (export "input-stream" (type $input (eq $outer)))
    (export "get-stdin" (func (result (own $input))))))
  (import "wasi:cli/exit@0.2.0" (instance $exit (export "exit" (func (param "status" (result))))))
  (import "wasi:cli/environment@0.2.0" (instance $environment
    (export "get-environment" (func (result (list (tuple string string)))))))
  (import "wasi:filesystem/types@0.2.0" (instance $files (export "descriptor" (type (sub resource)))))
  (alias export $files "descriptor" (type $descriptor))
  (import "wasi:filesystem/preopens@0.2.0" (instance $preopens
    (alias outer 1 $descriptor (type $outer))
    (export "descriptor" (type $descriptor (eq $outer)))
    (export "get-directories" (func (result (list (tuple (own $descriptor) string)))))))
  (import "wasi:clocks/monotonic-clock@0.2.0" (instance $monotonic
    (alias outer 1 $pollable (type $outer))
    (export "pollable" (type $pollable (eq $outer)))
    (export "now" (func (result u64)))
    (export "subscribe-duration" (func (param "when" u64) (result (own $pollable))))))
  (import "wasi:clocks/wall-clock@0.2.0" (instance $wall
    (type $record (record (field "seconds" u64) (field "nanoseconds" u32)))
    (export "datetime" (type $datetime (eq $record)))
    (export "now" (func (result $datetime)))))
  (import "wasi:random/random@0.2.0" (instance $random
    (export "get-random-bytes" (func (param "len" u64) (result (list u8))))))

  (type $context-record (record
    (field "tool-input" string) (field "metadata" string) (field "config" string) (field "conversation" string)
    (field "user-variables" string)))
  (export $context "context" (type $context-record))
  (type $error-record (record (field "kind" string) (field "message" string) (field "stack-trace" (list string))))
  (export $tool-error "tool-error" (type $error-record))

  ;; The first page belongs to the guest: 0 to 63 for what is handed over, 64 to 1,023 for texts of this file.
  (core module $libc
    (memory (export "memory") @memory@)
    (table (export "hook") 1 funcref)
    (global $next (mut i32) (i32.const 65536))
    @libc@
    (type $nothing (func))
    (func (export "realloc") (param $old i32) (param $old_bytes i32) (param $align i32) (param $bytes i32) (result i32)
      (local $at i32)
      @realloc@
      (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
      (global.set $next (i32.add (local.get $at) (local.get $bytes)))
      (if (i32.gt_u (global.get $next) (i32.mul (memory.size) (i32.const 65536)))
        (then (drop (memory.grow (i32.add (i32.div_u (local.get $bytes) (i32.const 65536)) (i32.const 1))))))
      (local.get $at)))
  (core instance $libc (instantiate $libc))

  (core func $send (canon lower (func $status "send") (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))))
  (core func $block (canon lower (func $poll "[method]pollable.block")))
  (core func $drop-pollable (canon resource.drop $pollable))
  (core func $write (canon lower (func $streams "[method]output-stream.write") (memory (core memory $libc "memory"))))
  (core func $read
    (canon lower (func $streams "[method]input-stream.blocking-read") (memory (core memory $libc "memory"))
      (realloc (core func $libc "realloc"))))
  (core func $get-stdout (canon lower (func $stdout "get-stdout")))
  (core func $get-stdin (canon lower (func $stdin "get-stdin")))
  (core func $exit (canon lower (func $exit "exit")))
  (core func $get-environment
    (canon lower (func $environment "get-environment") (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))))
  (core func $get-directories
    (canon lower (func $preopens "get-directories") (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))))
  (core func $now (canon lower (func $monotonic "now")))
  (core func $subscribe (canon lower (func $monotonic "subscribe-duration")))
  (core func $wall-now (canon lower (func $wall "now") (memory (core memory $libc "memory"))))
  (core func $random
    (canon lower (func $random "get-random-bytes") (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))))

  (core module $main
    (import "libc" "memory" (memory 0))
    (import "libc" "hook" (table $hook 1 funcref))
    (import "host" "send" (func $send (param i32 i32 i32)))
    (import "host" "block" (func $block (param i32)))
    (import "host" "drop-pollable" (func $drop_pollable (param i32)))
    (import "host" "write" (func $write (param i32 i32 i32 i32)))
    (import "host" "read" (func $read (param i32 i64 i32)))
    (import "host" "get-stdout" (func $get_stdout (result i32)))
    (import "host" "get-stdin" (func $get_stdin (result i32)))
    (import "host" "exit" (func $exit (param i32)))
    (import "host" "get-environment" (func $get_environment (param i32)))
    (import "host" "get-directories" (func $get_directories (param i32)))
    (import "host" "now" (func $now (result i64)))
    (import "host" "subscribe" (func $subscribe (param i64) (result i32)))
    (import "host" "wall-now" (func $wall_now (param i32)))
    (import "host" "random" (func $random (param i64 i32)))
    @import@
    (data (i32.const 64) "fine")

    ;; An answer.
    (func $ok (param $at i32) (param $bytes i32) (result i32)
      (i32.store8 (i32.const 16) (i32.const 0))
      (i32.store (i32.const 20) (local.get $at))
      (i32.store (i32.const 24) (local.get $bytes))
      (i32.const 16))

    ;; An error: a text as its type and as its message.
    (func $fail (param $at i32) (param $bytes i32) (result i32)
      (i32.store8 (i32.const 16) (i32.const 1))
      (i32.store (i32.const 20) (local.get $at))
      (i32.store (i32.const 24) (local.get $bytes))
      (i32.store (i32.const 28) (local.get $at))
      (i32.store (i32.const 32) (local.get $bytes))
      (i32.store (i32.const 36) (i32.const 0))
      (i32.store (i32.const 40) (i32.const 0))
      (i32.const 16))

    ;; A number as an answer.
    (func $ok_number (param $number i32) (result i32)
      (local $at i32) (local $negative i32)
      (local.set $at (i32.const 1000))
      (if (i32.lt_s (local.get $number) (i32.const 0))
        (then
          (local.set $negative (i32.const 1))
          (local.set $number (i32.sub (i32.const 0) (local.get $number)))))
      (loop $digits
        (local.set $at (i32.sub (local.get $at) (i32.const 1)))
        (i32.store8 (local.get $at) (i32.add (i32.const 48) (i32.rem_u (local.get $number) (i32.const 10))))
        (local.set $number (i32.div_u (local.get $number) (i32.const 10)))
        (br_if $digits (local.get $number)))
      (if (local.get $negative)
        (then
          (local.set $at (i32.sub (local.get $at) (i32.const 1)))
          (i32.store8 (local.get $at) (i32.const 45))))
      (call $ok (local.get $at) (i32.sub (i32.const 1000) (local.get $at))))

    ;; The digits of a text as a number.
    (func $number (param $at i32) (param $bytes i32) (result i32)
      (local $end i32) (local $digit i32) (local $number i32)
      (local.set $end (i32.add (local.get $at) (local.get $bytes)))
      (loop $next
        (local.set $digit (i32.sub (i32.load8_u (local.get $at)) (i32.const 48)))
        (if (i32.lt_u (local.get $digit) (i32.const 10))
          (then (local.set $number (i32.add (i32.mul (local.get $number) (i32.const 10)) (local.get $digit)))))
        (local.set $at (i32.add (local.get $at) (i32.const 1)))
        (br_if $next (i32.lt_u (local.get $at) (local.get $end))))
      (local.get $number))

    ;; `{}` is the input of a well-behaved sibling.
    (func (export "run-tool")
      (param $input i32) (param $bytes i32) (param i32 i32 i32 i32 i32 i32 i32 i32) (result i32)
      (if (i32.eq (local.get $bytes) (i32.const 2)) (then (return (call $ok (i32.const 64) (i32.const 4)))))
      (call $hostile (call $number (local.get $input) (local.get $bytes))))

@main@
    @post_return@)
  (core instance $main (instantiate $main
    (with "libc" (instance $libc))
    (with "host" (instance
      (export "send" (func $send))
      (export "block" (func $block))
      (export "drop-pollable" (func $drop-pollable))
      (export "write" (func $write))
      (export "read" (func $read))
      (export "get-stdout" (func $get-stdout))
      (export "get-stdin" (func $get-stdin))
      (export "exit" (func $exit))
      (export "get-environment" (func $get-environment))
      (export "get-directories" (func $get-directories))
      (export "now" (func $now))
      (export "subscribe" (func $subscribe))
      (export "wall-now" (func $wall-now))
      (export "random" (func $random))))))
@component@
  (func $run (param "context" $context) (result (result string (error $tool-error)))
    (canon lift (core func $main "run-tool") (memory (core memory $libc "memory")) (realloc (core func $libc "realloc"))
      (post-return (core func $main "post-return"))))
  (export "run-tool" (func $run)))
