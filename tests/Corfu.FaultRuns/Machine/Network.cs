namespace Corfu.FaultRuns.Machine;

/// <summary>A namespace per node and per group of clients, on a bridge of the run's own. Packet filters can tell their
/// addresses apart.</summary>
internal sealed class Network
{
    // A hardware address that no interface has.
    private const string NoOne = "02:00:00:00:00:fe";

    private readonly UndoList _undo;
    private readonly bool _hasFilters;
    private readonly string _prefix;
    private readonly string _hub;

    private Network(UndoList undo, bool hasFilters)
    {
        _undo = undo;
        _hasFilters = hasFilters;
        _prefix = $"cfr{Environment.ProcessId}";
        _hub = $"{_prefix}-hub";
    }

    /// <param name="hasFilters">Each namespace gets nft's chains, for loss, one-way cuts, isolation and
    /// redirects.</param>
    public static async Task<Network> CreateAsync(UndoList undo, bool hasFilters)
    {
        var network = new Network(undo, hasFilters);
        await network.MakeAsync(network._hub);
        await Shell.RequireAsync(
            $"ip link add br0 netns {network._hub} type bridge && ip -n {network._hub} link set br0 up && ip -n "
            + $"{network._hub} addr add {Address(254)}/24 dev br0");
        return network;
    }

    public static string Address(int host) => $"10.77.0.{host}";

    /// <summary>
    /// The words that run a program in a namespace. Not <c>ip netns exec</c>: that copies all mounts, and a file system
    /// that a process still has a copy of does not go away when it is unmounted, nor come back clean when it is mounted
    /// again.
    /// </summary>
    public static string[] Enter(string? ns) => ns is null ? [] : ["nsenter", $"--net=/run/netns/{ns}", "--"];

    public string Namespace(string name) => $"{_prefix}-{name}";

    public async Task AddAsync(string name, int host)
    {
        var ns = Namespace(name);
        await MakeAsync(ns);
        await Shell.RequireAsync(
            $"ip link add v{host} netns {_hub} type veth peer name eth0 netns {ns} && ip -n {_hub} link set v{host} "
            + "master br0 up && " +
            $"ip -n {ns} addr add {Address(host)}/24 dev eth0 && ip -n {ns} link set eth0 up");
        if (!_hasFilters) return;
        await Shell.RequireAsync(
            $"{Inside(ns)} nft 'add table inet faults; add chain inet faults in {{ type filter hook input priority "
            + $"0; }}; " +
            "add chain inet faults out { type filter hook output priority 0; }'");
    }

    /// <summary>Connections to the port from outside go to another port of the same node.</summary>
    public Task RedirectAsync(string name, int port, int to) => Shell.RequireAsync(
        $"{Inside(Namespace(name))} nft 'add table ip way; add chain ip way pre {{ type nat hook prerouting priority "
        + $"-100; }}; " +
        $"add rule ip way pre iifname eth0 tcp dport {port} redirect to :{to}'");

    /// <summary>Random loss of what comes in.</summary>
    public Task LoseAsync(string name, int percent) =>
        Shell.RequireAsync(
            $"{Inside(Namespace(name))} nft add rule inet faults in iifname eth0 numgen random mod 100 '<' {percent} "
            + "drop");

    /// <summary>Nothing of what the other sends arrives; the way back is open.</summary>
    public Task CutFromAsync(string name, string otherAddress) =>
        Shell.RequireAsync($"{Inside(Namespace(name))} nft add rule inet faults in ip saddr {otherAddress} drop");

    public Task CutToAsync(string name, string otherAddress) =>
        Shell.RequireAsync($"{Inside(Namespace(name))} nft add rule inet faults out ip daddr {otherAddress} drop");

    public Task IsolateAsync(string name) =>
        Shell.RequireAsync(
            $"{Inside(Namespace(name))} nft 'add rule inet faults in iifname eth0 drop; add rule inet faults out "
            + "oifname eth0 drop'");

    public Task HealAsync(string name) =>
        Shell.RequireAsync($"{Inside(Namespace(name))} nft 'flush chain inet faults in; flush chain inet faults out'");

    /// <summary>Packets of each of these hosts to its other one get lost in silence: they go to a neighbour that does
    /// not exist. The way back stays open. Needs no packet filter.</summary>
    public Task CutAsync(IEnumerable<(string Name, string ToAddress)> ways) =>
        Shell.RequireAsync(string.Join(" && ", ways.Select(way => $"ip -n {Namespace(way.Name)} neigh replace "
            + $"{way.ToAddress} lladdr {NoOne} dev eth0 nud permanent")));

    public Task JoinAsync(IEnumerable<(string Name, string ToAddress)> ways) =>
        Shell.RequireAsync(string.Join(" && ", ways.Select(way =>
            $"ip -n {Namespace(way.Name)} neigh del {way.ToAddress} dev eth0")));

    /// <summary>Whether a connection to the port opens at once.</summary>
    public async Task<bool> ReachesAsync(string name, string address, int port) => (await Shell.LineAsync(
        $"{Inside(Namespace(name))} timeout 0.5 bash -c 'exec 3<>/dev/tcp/{address}/{port}'")).Code == 0;

    private static string Inside(string ns) => string.Join(' ', Enter(ns));

    private async Task MakeAsync(string ns)
    {
        _undo.Add($"ip netns del {ns}");
        await Shell.RequireAsync($"ip netns add {ns} && ip -n {ns} link set lo up");
    }
}
