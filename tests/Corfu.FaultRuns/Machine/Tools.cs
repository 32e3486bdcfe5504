namespace Corfu.FaultRuns.Machine;

/// <summary>The tools that this machine offers to the run.</summary>
/// <param name="Missing">The reasons why a tool is missing, by its purpose.</param>
internal sealed record Tools(bool Network, bool LoopDisks, bool Strace, IReadOnlyList<string> Missing)
{
    /// <summary>False: the network has namespaces, and no packet filters.</summary>
    public bool Filters { get; init; } = true;


    public static async Task<Tools> ProbeAsync(UndoList undo)
    {
        var missing = new List<string>();
        var root = (await Shell.LineAsync("id -u")).Output.Trim() == "0";
        if (!root) missing.Add("everything below: not root");
        var network = root && await NetworkWorksAsync();
        if (root && !network)
            missing.Add("loss, partitions, delays: ip (namespaces, veth, bridge) or nft does not work here");
        var disks = root && await LoopDisk.IsPossibleAsync(undo);
        if (root && !disks)
            missing.Add("full disks, aborted file systems, power cuts: no loop ext4 can be mounted here");
        var strace = root && (await Shell.LineAsync("strace -e inject=fdatasync:error=EIO:when=1 true")).Code == 0;
        if (root && !strace) missing.Add("failing fsync: strace is missing or cannot inject");
        return new Tools(network, disks, strace, missing);
    }

    /// <summary>Signals, and namespaces where they can be made.</summary>
    public static async Task<Tools> ProbeNamespacesAsync()
    {
        var name = $"cfr{Environment.ProcessId}-probe";
        var (code, output) = await Shell.LineAsync(
            $"ip netns add {name} && ip link add br0 netns {name} type bridge && ip link add v0 netns {name} type "
            + $"veth peer name v1 netns {name} && {string.Join(' ', Machine.Network.Enter(name))} true");
        await Shell.LineAsync($"ip netns del {name}");
        return new Tools(code == 0, false, false, code == 0
            ? []
            : [$"partitions: no network namespaces (root and ip are needed): {output.Trim()}"])
        { Filters = false };
    }

    private static async Task<bool> NetworkWorksAsync()
    {
        var name = $"cfr{Environment.ProcessId}-probe";
        var (code, _) = await Shell.LineAsync(
            $"ip netns add {name} && ip link add br0 netns {name} type bridge && ip link add v0 netns {name} type "
            + $"veth peer name v1 netns {name} && " +
            $"{string.Join(' ', Machine.Network.Enter(name))} nft 'add table inet t; add chain inet t c {{ type "
            + $"filter hook input priority 0; }}; add rule inet t c numgen random mod 100 < 1 drop'");
        await Shell.LineAsync($"ip netns del {name}");
        return code == 0;
    }
}
