# Attempts that the sandbox must stop; each success is reported. Only built-in commands of the shell are used.
{
    if [ -e "$PRIVATE" ]; then echo 'sees files of the server'; fi
    if [ -e /etc/shadow ]; then echo 'sees the passwords of this machine'; fi
    for place in / /usr/ /shown/ /dev/ /dev/shm/; do
        if (: > "${place}lathe-probe"); then echo "writes to $place"; fi
    done
    set -- /proc/[0-9]*
    if [ $# -gt 3 ]; then echo 'sees processes of other jobs or of the server'; fi
    variable=
    IFS= read -r variable < /proc/1/environ
    if [ -n "$variable" ]; then echo 'sees an environment that it was not given'; fi
    while read -r name rest; do
        case $name in
            lo: | Inter-* | face) ;;
            *) echo "sees the network device $name" ;;
        esac
    done < /proc/net/dev
    while read -r name value rest; do
        case $name:$value in
            NoNewPrivs::0) echo 'may gain privileges' ;;
            Seccomp::[01]) echo 'has no seccomp filter' ;;
            CapEff::*[1-9a-f]*) echo 'has capabilities' ;;
            Uid::0) echo 'is root' ;;
        esac
    done < /proc/self/status
    echo 'self-test complete'
} > /build/report 2> /dev/null
