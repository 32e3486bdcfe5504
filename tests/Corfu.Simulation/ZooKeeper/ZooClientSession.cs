using System.Collections.Immutable;
using Corfu.Simulation.Kernel;
using Corfu.Simulation.Workload;
using Corfu.ZooKeeper.Client;
using Corfu.ZooKeeper.Wire;
using Tango.ZooKeeper;

namespace Corfu.Simulation.ZooKeeper;

/// <summary>A client of ZooKeeper's protocol, in a process of its own. Its sessions move between front ends with writes
/// under way, close, or fall silent; its watches go with them.</summary>
internal sealed class ZooClientSession(
    SimProcess process, ZooKeeperPlan plan, ZooNetwork network, ZooKeeperMonitor monitor, ZooRequests requests,
    SimRandom random, Ledger ledger)
{
    private static readonly ImmutableArray<byte> s_noPassword = [.. new byte[ConnectResponse.PasswordSize]];

    private ZooWatches _watches = new();
    private ZooLink? _link;
    private ImmutableArray<byte> _password = s_noPassword;
    private long _session;
    private long _seen;

    // Behind the reply to the watches that are set again: no other request may stand before.
    private bool _isReady;

    // Ends a silence.
    private TaskCompletionSource _woken = new();

    public bool IsDone { get; private set; }

    private TimeProvider Time => process.Time;

    public void Start() => process.Start("zookeeper client", RunAsync);

    /// <summary>A front end is about to end a session: at times its client comes back just then.</summary>
    public void OnExpiring(long session)
    {
        if (session == _session && random.Chance(0.5)) _woken.TrySetResult();
    }

    /// <summary>Sends a request a little later, if the client is connected then.</summary>
    public void SendLater(ClientRequest request, TimeSpan delay) => process.Start("rival", async () =>
    {
        await Task.Delay(delay, Time);
        if (_isReady && _link is { IsOver: false } link) await SendAsync(link, request);
    });

    private async Task RunAsync()
    {
        while (!ledger.Exhausted)
        {
            if (await ConnectAsync()) await LiveAsync(_link!);
            // The session of a client that has gone ends by its silence.
            if (random.Chance(0.1)) Forget();
            await Task.Delay(plan.BeatInterval * random.NextDouble(), Time);
        }

        // The last reply shows all that a watch has missed.
        while (_session != 0 && !(await ConnectAsync() && await SettleAsync(_link!)))
            await Task.Delay(plan.BeatInterval * random.NextDouble(), Time);
        IsDone = true;
    }

    private async Task<bool> SettleAsync(ZooLink link)
    {
        var settled = Task.WhenAll(link.SendAsync(new NodeRequest(OpCode.Sync, NodePath.Root)),
            link.SendAsync(new NodeRequest(OpCode.Exists, NodePath.Root)));
        bool isDone = await InTimeAsync(settled) is { } replies && replies.All(static reply => reply is not null);
        link.Leave(tells: true);
        return isDone;
    }

    // Without a session a new one begins.
    private async Task<bool> ConnectAsync()
    {
        if (_link is { IsOver: false }) _link.Leave(tells: random.Chance(0.5));
        if (_link is not null) _seen = Math.Max(_seen, _link.Seen);
        bool isNew = _session == 0;
        _isReady = false;
        var link = _link = new ZooLink(network, process, _watches, monitor);
        var greeting = await InTimeAsync(link.ShakeHandsAsync(new ConnectRequest(
            _seen, (int)plan.Timeout.TotalMilliseconds, _session, _password, ReadOnly: false)));
        if (greeting is null)
        {
            link.Leave(tells: true);
            return false;
        }

        if (greeting.Timeout == 0)
        {
            Forget();
            return false;
        }

        monitor.Mark(isNew ? "zookeeper session created" : "zookeeper session moved");
        (_session, _password) = (greeting.Session, greeting.Password);
        return _isReady = _watches.Again(_seen) is not { } again || await SendInTimeAsync(link, again) is not null;
    }

    private void Forget()
    {
        _link?.Leave(tells: random.Chance(0.5));
        (_link, _session, _password, _seen, _watches) = (null, 0, s_noPassword, 0, new ZooWatches());
    }

    private async Task LiveAsync(ZooLink link)
    {
        for (int rounds = random.Between(1, 8); rounds > 0 && !ledger.Exhausted; rounds--)
        {
            var sent = requests.Next(_session, random, this).Select(request => SendAsync(link, request)).ToList();
            // The client moves, and its writes are under way.
            if (random.Chance(0.1)) return;
            if (await InTimeAsync(Task.WhenAll(sent)) is not { } replies || replies.Any(static reply => reply is null))
            {
                monitor.Mark("zookeeper write in doubt");
                return;
            }

            if (random.Chance(0.03))
            {
                await SendInTimeAsync(link, new WriteRequest(OpCode.CloseSession, new CloseSessionOp()));
                Forget();
                return;
            }

            if (!random.Chance(0.2)) continue;
            _woken = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);
            await Task.WhenAny(_woken.Task, Task.Delay(plan.Timeout * random.NextDouble() * 2, Time));
            // The session may be about to end.
            if (random.Chance(0.5)) return;
        }
    }

    private async Task<ServerReply?> SendAsync(ZooLink link, ClientRequest request)
    {
        ServerReply? reply = await link.SendAsync(request);
        if (reply is not null) ledger.Done();
        requests.Answered(request, reply);
        return reply;
    }

    private Task<ServerReply?> SendInTimeAsync(ZooLink link, ClientRequest request) =>
        InTimeAsync(SendAsync(link, request));

    // A connection without an answer for so long is given up.
    private async Task<T?> InTimeAsync<T>(Task<T> work)
        where T : class?
    {
        try
        {
            return await work.WaitAsync(plan.Timeout + plan.Lease, Time);
        }
        catch (TimeoutException)
        {
            return null;
        }
    }
}
