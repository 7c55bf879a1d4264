# What keeps this program apart. Prints NAME=yes or NAME=no for each property, on one line.
exec 2>/dev/null
said=
tell() { said="$said $1=$2"; }
if (: >> /usr/bin/echo); then tell root no; else tell root yes; fi
if [ $$ -lt 100 ]; then tell processes yes; else tell processes no; fi
network=yes
while read -r name rest; do
  case $name in lo:* | Inter* | face*) ;; *) network=no ;; esac
done < /proc/net/dev || network=no
tell network $network
filter=no privileges=no capabilities=no
while read -r key value rest; do
  case $key in
    Seccomp:) if [ "$value" = 2 ]; then filter=yes; fi ;;
    NoNewPrivs:) if [ "$value" = 1 ]; then privileges=yes; fi ;;
    CapBnd:) if [ "$value" = 0000000000000000 ]; then capabilities=yes; fi ;;
  esac
done < /proc/self/status
tell filter $filter
tell privileges $privileges
tell capabilities $capabilities
read -r inside outside count < /proc/self/uid_map
if [ "${outside:-0}" != 0 ]; then tell user yes; else tell user no; fi
if (: > /workspace/probe); then tell workspace yes; else tell workspace no; fi
if [ -e /workspace/part-00000 ]; then tell files yes; else tell files no; fi
# Half a gibibyte in one variable.
if (x=12345678 i=0; while [ $i -lt 26 ]; do x=$x$x i=$((i + 1)); done); then
  tell memory no
else
  tell memory yes
fi
# The last, since the processes stay until all of this ends.
if (i=0; while [ $i -lt 300 ]; do sh -c 'kill -STOP $$' & i=$((i + 1)); done); then
  tell forks no
else
  tell forks yes
fi
echo $said
