using System.Collections.Concurrent;
using Corfu;
using Corfu.StateMachines;
using LockServiceSample.Machine;

namespace LockServiceSample.Service;

/// <summary>A member of the lock service: a replica that takes locks for its callers, renews them, and frees those
/// whose holders are silent.</summary>
internal sealed class LockMember(Replica<Locks> replica, string name, TimeSpan timeToLive)
{
    private const int ChecksInTimeToLive = 4;

    // Locks that are renewed, and what callers believe: a lock that is lost leaves the first alone.
    private readonly ConcurrentDictionary<string, long> _own = new();
    private readonly ConcurrentDictionary<string, long> _believed = new();
    private readonly Dictionary<string, (Held Held, long Since)> _seen = [];
    private int _acquired;

    private TimeSpan Pause => timeToLive / ChecksInTimeToLive;

    /// <summary>Waits until the lock is taken.</summary>
    /// <returns>The token.</returns>
    public async Task<long> AcquireAsync(string lockName, CancellationToken cancellationToken)
    {
        // An owner of its own for each call: sent again, the command finds the lock taken by itself.
        var order = new LockOrder(LockVerb.Acquire, lockName, $"{name}/{Interlocked.Increment(ref _acquired)}");
        while (true)
        {
            LockReply reply = await SendAsync(order, cancellationToken);
            if (reply.IsDone)
            {
                _believed[lockName] = reply.Token;
                _own[lockName] = reply.Token;
                return reply.Token;
            }

            await Task.Delay(Pause, cancellationToken);
        }
    }

    /// <returns>False: the lock is not held with this token any more.</returns>
    public async Task<bool> RenewAsync(string lockName, long token, CancellationToken cancellationToken) =>
        (await SendAsync(new LockOrder(LockVerb.Renew, lockName, Token: token), cancellationToken)).IsDone;

    /// <summary>Frees a lock, if it is held with the token.</summary>
    public async Task ReleaseAsync(string lockName, long token, CancellationToken cancellationToken)
    {
        _own.TryRemove(new KeyValuePair<string, long>(lockName, token));
        _believed.TryRemove(new KeyValuePair<string, long>(lockName, token));
        await SendAsync(new LockOrder(LockVerb.Release, lockName, Token: token), cancellationToken);
    }

    /// <summary>The token of the newest <see cref="AcquireAsync"/> of a lock; 0: it was released. The lock may be
    /// another's by now.</summary>
    public long Believed(string lockName) => _believed.GetValueOrDefault(lockName);

    /// <summary>Renews the locks of this member, and frees those of silent holders, until it is cancelled.</summary>
    public async Task KeepAsync(CancellationToken cancellationToken)
    {
        while (true)
        {
            foreach (var (lockName, token) in _own)
            {
                if (!await RenewAsync(lockName, token, cancellationToken))
                    _own.TryRemove(new KeyValuePair<string, long>(lockName, token));
            }

            foreach (Held held in await replica.QueryAsync(
                static locks => locks.All, QueryAs.Local, cancellationToken))
            {
                if (IsSilent(held))
                    await SendAsync(
                        new LockOrder(LockVerb.Expire, held.Name, Token: held.Token, Renewals: held.Renewals),
                        cancellationToken);
            }

            await Task.Delay(Pause, cancellationToken);
        }
    }

    // By this member's own clock, from the moment that it saw the newest sign of life.
    private bool IsSilent(Held held)
    {
        if (_seen.TryGetValue(held.Name, out var seen) && seen.Held == held)
            return TimeProvider.System.GetElapsedTime(seen.Since) > timeToLive;
        _seen[held.Name] = (held, TimeProvider.System.GetTimestamp());
        return false;
    }

    // Each command may run twice: the second time it finds what the first has done.
    private async Task<LockReply> SendAsync(LockOrder order, CancellationToken cancellationToken)
    {
        ReadOnlyMemory<byte> command = Locks.Encode(order, Locks.Options);
        while (true)
        {
            try
            {
                CommandOutcome outcome = await replica.ProposeAsync(command, cancellationToken);
                if (outcome.HasResult) return Locks.Decode(outcome, Locks.Options);
            }
            catch (CorfuException e) when (e is not MachineException or ReplicaBusyException)
            {
                // None of the attempts is in the log.
            }

            await Task.Delay(Pause, cancellationToken);
        }
    }
}
