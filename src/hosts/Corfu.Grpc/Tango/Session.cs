using System.Collections.Concurrent;
using System.Threading.Channels;
using Tango;
using Leased = Tango.Collections.TangoLeasedDictionary<string, byte[]>;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary>
/// The holdings of a caller through one stream. Each holding is a lease in the log, in its object. The front end renews
/// it when the caller sends a sign of life, and at no other time. A lease therefore outlives the stream and the front
/// end. It ends its time to live after the caller's last sign of life, unless the caller holds it through another
/// session by then.</summary>
/// <param name="holders">The session of the front end for each holding.</param>
internal sealed class Session(
    string id, (string Caller, string Owner) whose, TimeSpan timeToLive, int maxHeld,
    ConcurrentDictionary<HoldingKey, Session> holders, TimeProvider time)
{
    // Answers to keep-alives that the caller has not taken yet.
    private const int MaxAnswers = 16;

    private readonly Lock _gate = new();
    private readonly CancellationTokenSource _ended = new();
    private readonly SemaphoreSlim _granting = new(1, 1);

    // Guarded by _gate. Invariant: empty once _isOver.
    private readonly Dictionary<HoldingKey, Held> _held = [];
    private bool _isOver;
    private int _round;

    private readonly Channel<V1.SessionEvent> _events = Channel.CreateBounded<V1.SessionEvent>(maxHeld + MaxAnswers);

    public string Id => id;

    public string Caller => whose.Caller;

    public string Owner => whose.Owner;

    public TimeSpan TimeToLive => timeToLive;

    /// <summary>Cancelled when the session ends.</summary>
    public CancellationToken Ended => _ended.Token;

    /// <summary>Events for the caller, in order.</summary>
    public ChannelReader<V1.SessionEvent> Events => _events.Reader;

    /// <summary>Rounds of renewals that have begun.</summary>
    public int Round
    {
        get
        {
            lock (_gate) return _round;
        }
    }

    /// <summary>A caller that takes no answers slows its own keep-alives down.</summary>
    public ValueTask TellAsync(V1.SessionEvent told, CancellationToken cancellationToken) =>
        _events.Writer.WriteAsync(told, cancellationToken);

    /// <summary>Called before a holding is taken for the session: a delivery that is given back counts as an
    /// attempt.</summary>
    /// <exception cref="FrontEndLimitException">The session holds as many as it may.</exception>
    public void RequireRoom(int count = 1)
    {
        lock (_gate)
        {
            if (_held.Count + count > maxHeld)
                throw new FrontEndLimitException(nameof(TangoGrpcOptions.MaxHeldPerSession), maxHeld);
        }
    }

    /// <summary>Keeps what the caller got until it is given back, lost, or the session ends.</summary>
    /// <param name="began">The rounds when the lease was asked for. A round since may have been answered, and the
    /// caller counts from there: the lease is renewed.</param>
    /// <exception cref="SessionNotFoundException">The session has ended meanwhile, and what the caller got too.
    /// </exception>
    /// <exception cref="FrontEndLimitException">The session holds as many as it may. The new holding has
    /// ended.</exception>
    public async ValueTask KeepAsync(Held held, int began)
    {
        bool isOver, isFull, isLate;
        lock (_gate)
        {
            (isOver, isFull) = (_isOver, _held.Count >= maxHeld && !_held.ContainsKey(held.Key));
            isLate = _round != began;
            if (!isOver && !isFull) Add(held);
        }

        if (isOver || isFull)
        {
            await EndAsync(held);
            if (isOver) throw new SessionNotFoundException(id);
            throw new FrontEndLimitException(nameof(TangoGrpcOptions.MaxHeldPerSession), maxHeld);
        }

        if (isLate) await RenewAsync(held, _ended.Token);
    }

    /// <summary>A thing was given back: the caller has not lost it.</summary>
    public void Forget(HoldingKey holding)
    {
        lock (_gate) Remove(holding);
    }

    /// <summary>The session's lease of an object, granted when it is first used.</summary>
    public async ValueTask<long> LeaseAsync(Leased entries, CancellationToken cancellationToken)
    {
        await _granting.WaitAsync(cancellationToken);
        try
        {
            lock (_gate)
            {
                foreach (var known in _held.Values)
                {
                    if (known.Key.Kind == HoldingKind.Lease && known.Object == entries.ObjectId)
                        return known.Key.Number;
                }
            }

            RequireRoom();
            var began = Round;
            var lease = await entries.GrantAsync(timeToLive, cancellationToken);
            await lease.LetGoAsync();
            await KeepAsync(Held.Lease(entries.ObjectName, entries, lease.Id), began);
            return lease.Id;
        }
        finally
        {
            _granting.Release();
        }
    }

    /// <summary>The objects of the holdings.</summary>
    public string[] HeldObjects()
    {
        lock (_gate) return [.. _held.Keys.Select(static held => held.Object).Distinct()];
    }

    /// <summary>Renews all holdings. The caller is told of those that have ended.</summary>
    public async Task RenewAsync(CancellationToken stop)
    {
        Held[] held;
        lock (_gate)
        {
            _round++;
            held = [.. _held.Values];
        }

        await Task.WhenAll(held.Select(one => RenewAsync(one, stop)));
    }

    /// <summary>The stream is over. The holdings stay in the log, for the caller's next session.</summary>
    public void LetGo() => _ = TakeAll();

    /// <summary>The caller has ended the session: nothing is held any more.</summary>
    public Task EndAsync() => Task.WhenAll(TakeAll().Select(EndAsync));

    private Held[] TakeAll()
    {
        Held[] held;
        lock (_gate)
        {
            _isOver = true;
            held = [.. _held.Values];
            foreach (var one in held) Remove(one.Key);
        }

        _ended.Cancel();
        return held;
    }

    private async Task RenewAsync(Held held, CancellationToken stop)
    {
        while (true)
        {
            try
            {
                if (!await held.Renew(stop)) OnLost(held);
                return;
            }
            catch (Exception e) when (e is TangoObjectDeletedException or TangoObjectStoppedException)
            {
                OnLost(held);
                return;
            }
            catch (Exception) when (!stop.IsCancellationRequested)
            {
                // In doubt or unavailable. Renewing twice does no harm.
                await Task.Delay(timeToLive / 10, time, stop);
            }
        }
    }

    private async Task EndAsync(Held held)
    {
        using var bound = new CancellationTokenSource(timeToLive, time);
        try
        {
            await held.End(bound.Token);
        }
        catch (Exception)
        {
            // The lease is over already, or the log cannot be reached: it ends by itself.
        }
    }

    private void OnLost(Held lost)
    {
        lock (_gate)
        {
            if (!Remove(lost.Key)) return;
        }

        // A caller that does not even read its losses counts as gone.
        if (!_events.Writer.TryWrite(new V1.SessionEvent { Lost = lost.Key.ToMessage() })) _ended.Cancel();
    }

    private void Add(Held held)
    {
        _held[held.Key] = held;
        holders[held.Key] = this;
    }

    private bool Remove(HoldingKey holding)
    {
        holders.TryRemove(KeyValuePair.Create(holding, this));
        return _held.Remove(holding);
    }
}
