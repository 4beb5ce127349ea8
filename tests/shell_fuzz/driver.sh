# Runs the scripts 0.sh, 1.sh, … of a folder, each in a bash of its own and in its own folder, and keeps what it says.
# usage: driver.sh FOLDER COUNT
cd "$1" || exit
for ((index = 0; index < $2; index++)); do
    cd "w$index" || exit
    read -r _ _ mode <"../$index.sh"
    case $mode in
    command) bash -c "$(<"../$index.sh")" <../stdin.txt ;;
    input) bash <"../$index.sh" ;;
    *) bash "../$index.sh" <../stdin.txt ;;
    esac >"../$index.out" 2>"../$index.err"
    echo $? >"../$index.status"
    cd ..
done
