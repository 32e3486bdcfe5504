using System.Globalization;
using Corfu.Hosting;
using LockServiceSample.Service;

namespace LockServiceSample.Run;

/// <summary>Members take a lock in turn while its holders are killed and stopped.</summary>
internal sealed class LockRun(string connection, TimeSpan lease) : IAsyncDisposable
{
    private const int Members = 3;
    private const string Lock = "door";

    private readonly List<CallProcess> _members = [];
    private readonly Vault _vault = new();
    private int _started;

    /// <summary>Starts a cluster in this process, members beside, and runs.</summary>
    /// <returns>Whether all is as it must be.</returns>
    public static async Task<bool> RunAsync(int kills, int stops, TimeSpan lease, CancellationToken cancellationToken)
    {
        await using EmbeddedCluster cluster =
            await EmbeddedCluster.StartAsync(cancellationToken: cancellationToken);
        await using var run = new LockRun(cluster.ConnectionString, lease);
        return await run.RunAsync(kills, stops, cancellationToken);
    }

    public async ValueTask DisposeAsync()
    {
        foreach (CallProcess member in _members) await member.DisposeAsync();
    }

    private async Task<bool> RunAsync(int kills, int stops, CancellationToken cancellationToken)
    {
        while (_members.Count < Members) await StartAsync(cancellationToken);
        await TellAsync($"{Members} members, each a replica of the locks; one that is silent for "
            + $"{lease.TotalSeconds.ToString(CultureInfo.InvariantCulture)} s loses its lock");
        var tokens = new List<long>();
        var staleRenewals = 0;
        for (var fault = 0; fault < kills + stops; fault++)
        {
            CallProcess holder = _members[0];
            CallProcess next = _members[1];
            long token = await AcquireAsync(holder, cancellationToken);
            tokens.Add(token);
            _vault.Write(token);
            Task<long> waiting = AcquireAsync(next, cancellationToken);
            bool isStop = fault < stops;
            if (isStop) await holder.StopAsync(cancellationToken);
            else await holder.KillAsync();
            await TellAsync($"{holder.Name} has the lock with token {token}, and is {(isStop ? "stopped" : "killed")}");

            long later = await waiting;
            tokens.Add(later);
            _vault.Write(later);
            await TellAsync($"{next.Name} has the lock with token {later}, and writes");
            if (isStop)
            {
                holder.Continue();
                // The holder was stopped before it wrote: what it sends now is late.
                bool isTaken = _vault.Write(token);
                if (await RenewAsync(holder, token, cancellationToken)) staleRenewals++;
                await TellAsync($"{holder.Name} goes on, and writes with token {token}: "
                    + (isTaken ? "taken" : "refused"));
            }
            else
            {
                _members.RemoveAt(0);
                await holder.DisposeAsync();
                await StartAsync(cancellationToken);
            }

            await RequireAsync(next, $"release {Lock} {later}", cancellationToken);
        }

        bool grow = tokens.Zip(tokens.Skip(1)).All(static pair => pair.First < pair.Second);
        bool isRight = grow && _vault.Refused == stops && staleRenewals == 0 && _vault.Taken.SequenceEqual(tokens);
        await TellAsync($"acquired {tokens.Count} killed {kills} stopped {stops} refused {_vault.Refused} "
            + $"tokens grow {(grow ? "yes" : "no")}");
        return isRight;
    }

    private async Task StartAsync(CancellationToken cancellationToken)
    {
        var name = $"member-{++_started}";
        _members.Add(await CallProcess.StartAsync(
            name, [MemberMode.Name, connection, name, $"{(int)lease.TotalMilliseconds}"], cancellationToken));
    }

    private static async Task<long> AcquireAsync(CallProcess member, CancellationToken cancellationToken) =>
        long.Parse(
            await RequireAsync(member, $"acquire {Lock}", cancellationToken), CultureInfo.InvariantCulture);

    private static async Task<bool> RenewAsync(
        CallProcess member, long token, CancellationToken cancellationToken) =>
        bool.Parse(await RequireAsync(member, $"renew {Lock} {token}", cancellationToken));

    private static async Task<string> RequireAsync(
        CallProcess member, string call, CancellationToken cancellationToken) =>
        await member.AskAsync(call, cancellationToken)
        ?? throw new ChildProcessException($"{member.Name} has ended");

    private static Task TellAsync(string line) => Console.Out.WriteLineAsync(line);
}
