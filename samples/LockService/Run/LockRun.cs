using System.Globalization;
using Corfu.Hosting;
using LockServiceSample.Service;

namespace LockServiceSample.Run;

/// <summary>Members take a lock in turn while its holders are killed and stopped; a judge checks the history.</summary>
internal sealed class LockRun(string connection, TimeSpan lease) : IAsyncDisposable
{
    private const int Members = 3;
    private const string Lock = "door";

    // Some leases, on a machine that is busy with something else.
    private readonly TimeSpan _bound = TimeSpan.FromSeconds(60) + (4 * lease);

    private readonly List<CallProcess> _members = [];
    private readonly List<LockEvent> _history = [];
    private readonly Vault _vault = new();
    private int _started;

    /// <summary>Starts a cluster in this process, members beside, and runs.</summary>
    /// <returns>Whether the history is right.</returns>
    public static async Task<bool> RunAsync(int kills, int stops, TimeSpan lease, CancellationToken cancellationToken)
    {
        await using EmbeddedCluster cluster =
            await EmbeddedCluster.StartAsync(cancellationToken: cancellationToken);
        await using var run = new LockRun(cluster.ConnectionString, lease);
        return await run.RunAsync(kills, stops, cancellationToken);
    }

    public async ValueTask DisposeAsync() =>
        await Task.WhenAll(_members.Select(static member => member.DisposeAsync().AsTask()));

    private async Task<bool> RunAsync(int kills, int stops, CancellationToken cancellationToken)
    {
        while (_members.Count < Members) await StartAsync(cancellationToken);
        await TellAsync($"{Members} members, each a replica of the locks; one that is silent for "
            + $"{lease.TotalSeconds.ToString(CultureInfo.InvariantCulture)} s loses its lock");
        for (var fault = 0; fault < kills + stops; fault++) await TakeTurnAsync(fault < stops, cancellationToken);

        IReadOnlyList<string> faults = LockJudge.Judge(_history);
        foreach (string fault in faults) await TellAsync($"wrong: {fault}");
        List<long> tokens = [.. _history.OfType<LockEvent.Acquired>().Select(static acquired => acquired.Token)];
        int returned = _history.OfType<LockEvent.Continued>().Count();
        bool grow = tokens.Zip(tokens.Skip(1)).All(static pair => pair.First < pair.Second);
        await TellAsync($"acquired {tokens.Count} killed {kills} stopped {returned} refused {_vault.Refused} "
            + $"tokens grow {(grow ? "yes" : "no")}");
        return faults.Count == 0 && returned == stops && _vault.Refused == stops;
    }

    /// <summary>A member takes the lock, and is killed or stopped; the next one takes the lock in its place.</summary>
    private async Task TakeTurnAsync(bool isStop, CancellationToken cancellationToken)
    {
        CallProcess holder = _members[0];
        CallProcess next = _members[1];
        long token = await AcquireAsync(holder, cancellationToken);
        Write(holder, token);
        Task<string> waiting = RequireAsync(next, $"acquire {Lock}", cancellationToken);
        await TellAsync($"{holder.Name} has the lock with token {token}, and is {(isStop ? "stopped" : "killed")}");
        if (!isStop)
        {
            await holder.KillAsync();
        }
        else
        {
            if (!await holder.StopAsync(cancellationToken))
                throw new ChildProcessException($"{holder.Name} has ended before it was stopped");
            _history.Add(new LockEvent.Stopped(holder.Name));
        }

        long later = Acquired(next, await waiting);
        Write(next, later);
        await TellAsync($"{next.Name} has the lock with token {later}, and writes");
        if (isStop)
        {
            await ReturnAsync(holder, cancellationToken);
            // Behind the refusal: the vault refuses the late token, and not all.
            Write(next, later);
        }
        else
        {
            _members.RemoveAt(0);
            await holder.DisposeAsync();
            await StartAsync(cancellationToken);
        }

        await RequireAsync(next, $"release {Lock} {later}", cancellationToken);
    }

    /// <summary>A member goes on behind SIGSTOP, and uses the lock with the token in which it believes.</summary>
    private async Task ReturnAsync(CallProcess holder, CancellationToken cancellationToken)
    {
        await holder.ContinueAsync();
        long believed = Number(await RequireAsync(holder, $"believed {Lock}", cancellationToken));
        _history.Add(new LockEvent.Continued(holder.Name, believed));
        bool isTaken = Write(holder, believed);
        bool isHeld = bool.Parse(await RequireAsync(holder, $"renew {Lock} {believed}", cancellationToken));
        _history.Add(new LockEvent.Renewed(holder.Name, believed, isHeld));
        await TellAsync(
            $"{holder.Name} goes on, and writes with token {believed}: {(isTaken ? "taken" : "refused")}");
    }

    private async Task StartAsync(CancellationToken cancellationToken)
    {
        var name = $"member-{++_started}";
        _members.Add(await CallProcess.StartAsync(
            name, [MemberMode.Name, connection, name, $"{(int)lease.TotalMilliseconds}"], cancellationToken));
    }

    private bool Write(CallProcess member, long token)
    {
        bool isTaken = _vault.Write(token);
        _history.Add(new LockEvent.Wrote(member.Name, token, isTaken));
        return isTaken;
    }

    private async Task<long> AcquireAsync(CallProcess member, CancellationToken cancellationToken) =>
        Acquired(member, await RequireAsync(member, $"acquire {Lock}", cancellationToken));

    private long Acquired(CallProcess member, string answer)
    {
        long token = Number(answer);
        _history.Add(new LockEvent.Acquired(member.Name, token));
        return token;
    }

    private async Task<string> RequireAsync(CallProcess member, string call, CancellationToken cancellationToken)
    {
        using var late = CancellationTokenSource.CreateLinkedTokenSource(cancellationToken);
        late.CancelAfter(_bound);
        try
        {
            return await member.AskAsync(call, late.Token)
                ?? throw new ChildProcessException($"{member.Name} has ended");
        }
        catch (OperationCanceledException) when (!cancellationToken.IsCancellationRequested)
        {
            throw new ChildProcessException(
                $"{member.Name} has not answered '{call}' within {_bound.TotalSeconds:0} s");
        }
    }

    private static long Number(string answer) => long.Parse(answer, CultureInfo.InvariantCulture);

    private static Task TellAsync(string line) => Console.Out.WriteLineAsync(line);
}
