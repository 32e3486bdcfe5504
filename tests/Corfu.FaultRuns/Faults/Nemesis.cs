using Corfu.FaultRuns.Machine;
using Corfu.FaultRuns.Nodes;

namespace Corfu.FaultRuns.Faults;

/// <summary>Brings about one fault at a time, and takes it away again. The seed determines the faults, the clock their
/// times.</summary>
internal sealed class Nemesis(ClusterRig rig, ClientPool clients, Tools tools, Random random)
{
    /// <summary>The kinds of faults that this machine allows.</summary>
    public IReadOnlyList<FaultKind> Kinds { get; } = [.. Enum.GetValues<FaultKind>().Where(kind => kind switch
    {
        FaultKind.Loss or FaultKind.OneWayPartition or FaultKind.Isolate => tools.Network,
        FaultKind.Delay or FaultKind.BreakConnections => rig.Nodes.Any(n => n.Proxy is not null),
        FaultKind.FullDisk or FaultKind.AbortedFileSystem or FaultKind.PowerCut => tools.LoopDisks,
        FaultKind.FailingSync => tools.Strace,
        FaultKind.Reconfigure => rig.HasReserves,
        _ => true,
    })];

    /// <returns>The fault in words, and the action that heals it.</returns>
    public async Task<(string What, Func<Task> Heal)> InjectAsync(FaultKind kind)
    {
        switch (kind)
        {
            case FaultKind.KillUnit:
                return await KillAsync([Unit()]);
            case FaultKind.KillSequencer:
                var sequencers = rig.Nodes.Where(n => n.IsSequencer).ToList();
                return await KillAsync([sequencers[random.Next(sequencers.Count)]]);
            case FaultKind.KillAll:
                return await KillAsync(rig.Nodes);
            case FaultKind.StopNode:
                var stopped = Any();
                Signals.Stop(stopped.Process!.Id);
                return ($"{stopped.Name} is stopped", Do(() => Signals.Continue(stopped.Process.Id)));
            case FaultKind.KillClient:
                var victim = random.Next(clients.Running.Count);
                var name = clients.Running[victim].Name;
                await clients.ReplaceAsync(victim);
                return ($"client {name} is killed, another begins", Do(() => { }));
            case FaultKind.StopClient:
                var client = clients.Running[random.Next(clients.Running.Count)];
                Signals.Stop(client.Process.Id);
                return ($"client {client.Name} is stopped", Do(() => Signals.Continue(client.Process.Id)));
            case FaultKind.Reconfigure:
                return await ReconfigureAsync();
            case FaultKind.Loss or FaultKind.OneWayPartition or FaultKind.Isolate:
                return await NetworkAsync(kind);
            case FaultKind.Delay or FaultKind.BreakConnections:
                return Proxied(kind);
            case FaultKind.FullDisk:
                var full = Unit();
                await full.Disk!.FillAsync();
                return ($"the disk of {full.Name} is full", async () => await full.Disk.EmptyAsync());
            case FaultKind.FailingSync:
                return await FailSyncAsync(Unit());
            case FaultKind.AbortedFileSystem:
                var aborted = Unit();
                await aborted.Disk!.AbortAsync();
                return ($"the file system of {aborted.Name} is aborted", () => RemountAsync(aborted));
            default:
                var cut = Unit();
                cut.Disk!.CutPower();
                return ($"the disk of {cut.Name} loses its power", () => RemountAsync(cut));
        }
    }

    private static Func<Task> Do(Action action) => () =>
    {
        action();
        return Task.CompletedTask;
    };

    private Node Any() => rig.Nodes[random.Next(rig.Nodes.Count)];

    private Node Unit()
    {
        var units = rig.Nodes.Where(n => n.IsUnit).ToList();
        return units[random.Next(units.Count)];
    }

    private static async Task<(string, Func<Task>)> KillAsync(IReadOnlyList<Node> nodes)
    {
        foreach (var node in nodes) await node.Process!.KillAsync();
        return ($"{string.Join(", ", nodes.Select(n => n.Name))} killed", Do(() => { }));
    }

    // An operator's, beside the agents': they may get in each other's way, and then one of them gives up.
    private async Task<(string, Func<Task>)> ReconfigureAsync()
    {
        string[][] changes = random.Next(2) == 0
            ? [["replace-sequencer"]]
            // Some of them are spares now, which cannot be replaced.
            : [.. rig.Nodes.Where(n => n.IsUnit).OrderBy(_ => random.Next())
                .Select(n => new[] { "replace-unit", rig.EndpointOf(n) })];
        var told = "";
        foreach (var change in changes)
        {
            var (code, text) = await rig.ToolAsync(["reconfigure", .. change, "--connect", rig.Connection]);
            told = string.Join(' ', change);
            if (code == 0) return (told, Do(() => { }));
            told += $" (not done: {text.Trim().Split('\n')[^1]})";
        }

        return (told, Do(() => { }));
    }

    private async Task<(string, Func<Task>)> NetworkAsync(FaultKind kind)
    {
        var network = rig.Network!;
        var node = Any();
        var heal = () => network.HealAsync(node.Name);
        switch (kind)
        {
            case FaultKind.Loss:
                var percent = random.Next(5, 40);
                await network.LoseAsync(node.Name, percent);
                return ($"{node.Name} loses {percent} % of what comes in", heal);
            case FaultKind.Isolate:
                await network.IsolateAsync(node.Name);
                return ($"{node.Name} is cut off", heal);
            default:
                var others = rig.Nodes.Where(n => n != node).Select(n => (n.Name, n.Host))
                    .Concat([("clients-0", 101), ("clients-1", 102)]).ToList();
                var (other, host) = others[random.Next(others.Count)];
                var inward = random.Next(2) == 0;
                if (inward) await network.CutFromAsync(node.Name, Network.Address(host));
                else await network.CutToAsync(node.Name, Network.Address(host));
                return (inward
                    ? $"{node.Name} hears nothing from {other}"
                    : $"{node.Name} reaches {other} no more, but hears it", heal);
        }
    }

    private (string, Func<Task>) Proxied(FaultKind kind)
    {
        var proxied = rig.Nodes.Where(n => n.Proxy is not null).ToList();
        var node = proxied[random.Next(proxied.Count)];
        if (kind == FaultKind.BreakConnections)
        {
            node.Proxy!.Tell("break");
            return ($"all connections to {node.Name} break", Do(() => { }));
        }

        var max = random.Next(20, 400);
        node.Proxy!.Tell($"delay 0 {max}");
        return ($"what goes to and from {node.Name} is late by up to {max} ms, and overtaken",
            Do(() => node.Proxy.Tell("clear")));
    }

    // Attached while it runs: one fdatasync fails and is skipped, as if the device had refused it.
    private async Task<(string, Func<Task>)> FailSyncAsync(Node node)
    {
        var process = node.Process!.Id;
        var when = random.Next(1, 20);
        var strace = Child.Start(
            rig.Undo, null, "strace", [], "strace", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fdatasync", "-e",
            $"inject=fdatasync:error=EIO:when={when}", "-p", $"{process}");
        return ($"the {when}. fdatasync of {node.Name} from now on fails with EIO", async () =>
        {
            await strace.KillAsync();
            if (!node.Process.HasExited) await node.Process.KillAsync();
        }
        );
    }

    private static async Task RemountAsync(Node node)
    {
        if (!node.Process!.HasExited) await node.Process.KillAsync();
        await node.Disk!.UnmountAsync();
        await node.Disk.MountAsync();
    }
}
