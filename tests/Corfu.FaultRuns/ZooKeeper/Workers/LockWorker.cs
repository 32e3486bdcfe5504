using System.Diagnostics;
using Corfu.FaultRuns.ZooKeeper.Clients;

namespace Corfu.FaultRuns.ZooKeeper.Workers;

/// <summary>Takes a lock by an ephemeral sequential node, writes what it guards, and lets go. The zxid of its node is
/// the fencing token. A waiter watches the node before its own.</summary>
internal sealed class LockWorker(ZooClients clients, string name, int seed) : ZooWorker(clients, name, seed)
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(3);

    private string? _prefix;
    private string _parent = "";
    private string? _node;
    private long _token;
    private bool _isHolder;

    protected override void OnSession() => (_prefix, _node, _isHolder) = (null, null, false);

    protected override Task StepAsync() =>
        _prefix is null ? EnterAsync() : _node is null ? FindAsync() : _isHolder ? UseAsync() : WaitAsync();

    private async Task EnterAsync()
    {
        _parent = ZooPaths.At(ZooPaths.Locks, Random.Next(ZooPaths.EachKind));
        _prefix = $"{Session.Name}.{NextId()}-";
        var made = await SendAsync(new ZooCall(ZooAct.Create, $"{_parent}/{_prefix}")
        { IsEphemeral = true, IsSequential = true });
        if (made.IsOk) (_node, _token) = (ZooPaths.NameOf(made.Text), made.Stat!.Czxid);
    }

    // A create without a reply may have made the node: its name tells.
    private async Task FindAsync()
    {
        var listed = await SendAsync(new ZooCall(ZooAct.Children, _parent));
        if (!listed.IsOk) return;
        if (listed.Names.FirstOrDefault(one => one.StartsWith(_prefix!, StringComparison.Ordinal)) is not { } found)
        {
            _prefix = null;
            return;
        }

        var stat = await SendAsync(new ZooCall(ZooAct.Exists, $"{_parent}/{found}"));
        if (stat.IsOk) (_node, _token) = (found, stat.Stat!.Czxid);
    }

    private async Task WaitAsync()
    {
        var listed = await SendAsync(new ZooCall(ZooAct.Children, _parent));
        if (!listed.IsOk) return;
        var order = listed.Names.OrderBy(ZooPaths.SequenceOf).ToList();
        var place = order.IndexOf(_node!);
        if (place <= 0)
        {
            // Without its node it holds nothing, and the judge asks why.
            _isHolder = place == 0;
            if (place < 0) OnSession();
            return;
        }

        var before = await SendAsync(new ZooCall(ZooAct.Exists, $"{_parent}/{order[place - 1]}") { Watch = true });
        if (!before.IsOk) return;
        // The judge sees a watch that was forgotten; the worker goes on by looking.
        for (var began = Stopwatch.GetTimestamp(); Stopwatch.GetElapsedTime(began) < s_patience && !Session.IsOver;)
        {
            await Task.Delay(200);
            var still = await SendAsync(new ZooCall(ZooAct.Exists, $"{_parent}/{order[place - 1]}"));
            if (!still.IsOk) return;
        }
    }

    private async Task UseAsync()
    {
        var guarded = ZooPaths.At(ZooPaths.Guarded, int.Parse(ZooPaths.NameOf(_parent)));
        var node = $"{_parent}/{_node}";
        for (var left = Random.Next(1, 4); left > 0; left--)
        {
            await SendAsync(new ZooCall(ZooAct.GuardedSet, guarded)
            { Guard = node, Data = $"{_token} {NextId()}" });
        }

        while (!Session.IsOver)
        {
            var deleted = await SendAsync(new ZooCall(ZooAct.Delete, node));
            if (deleted.IsOk || deleted.Error == ZooEntry.NoNode) break;
        }

        OnSession();
    }
}
