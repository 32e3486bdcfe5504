using System.Diagnostics.CodeAnalysis;
using System.Threading.Channels;
using Tango;
using V1 = Corfu.Grpc.Protocol.Tango.V1;

namespace Corfu.Grpc;

/// <summary>What a caller holds through this front end: locks, deliveries and leases that the front end renews while
/// the session lives.</summary>
internal sealed class Session(string id, string owner, TimeSpan timeToLive, int maxHeld) : IAsyncDisposable
{
    // Answers to keep-alives that the caller has not taken yet.
    private const int MaxAnswers = 16;

    private readonly Lock _gate = new();
    private readonly CancellationTokenSource _ended = new();
    private readonly SemaphoreSlim _granting = new(1, 1);

    // Guarded by _gate. Invariant: empty once _ended is cancelled.
    private readonly Dictionary<Holding, IAsyncDisposable> _held = [];
    private bool _isOver;

    private readonly Channel<V1.SessionEvent> _events = Channel.CreateBounded<V1.SessionEvent>(maxHeld + MaxAnswers);

    public string Id => id;

    public string Owner => owner;

    public TimeSpan TimeToLive => timeToLive;

    /// <summary>Cancelled when the session ends.</summary>
    public CancellationToken Ended => _ended.Token;

    /// <summary>What the caller is told, in order.</summary>
    public ChannelReader<V1.SessionEvent> Events => _events.Reader;

    /// <summary>A caller that takes no answers slows its own keep-alives down.</summary>
    public ValueTask TellAsync(V1.SessionEvent told, CancellationToken cancellationToken) =>
        _events.Writer.WriteAsync(told, cancellationToken);

    /// <summary>Before anything is taken for it: a delivery that is given back counts as an attempt.</summary>
    /// <exception cref="FrontEndLimitException">It holds as much as it may.</exception>
    public void RequireRoom()
    {
        lock (_gate)
        {
            if (_held.Count >= maxHeld)
                throw new FrontEndLimitException(nameof(TangoGrpcOptions.MaxHeldPerSession), maxHeld);
        }
    }

    /// <summary>Keeps what the caller got until it is taken back, lost, or the session ends.</summary>
    /// <exception cref="SessionNotFoundException">The session has ended meanwhile, and what the caller got too.
    /// </exception>
    /// <exception cref="FrontEndLimitException">It holds as much as it may. What the caller got has ended.</exception>
    public async ValueTask KeepAsync(Holding holding, IAsyncDisposable held, CancellationToken lost)
    {
        bool isOver, isFull;
        lock (_gate)
        {
            (isOver, isFull) = (_isOver, _held.Count >= maxHeld);
            if (!isOver && !isFull) _held.Add(holding, held);
        }

        if (isOver || isFull)
        {
            await held.DisposeAsync();
            if (isOver) throw new SessionNotFoundException(id);
            throw new FrontEndLimitException(nameof(TangoGrpcOptions.MaxHeldPerSession), maxHeld);
        }

        // Disposing it is told too; by then it is not here any more.
        lost.UnsafeRegister(_ => OnLost(holding, held), null);
    }

    /// <summary>It is not the session's any more, and the caller of this ends it.</summary>
    public bool TryTake<T>(Holding holding, [NotNullWhen(true)] out T? held)
        where T : class
    {
        lock (_gate)
        {
            // Numbers of another kind of object: it stays the session's, which has to end it.
            held = _held.GetValueOrDefault(holding) as T;
            return held is not null && _held.Remove(holding);
        }
    }

    /// <summary>Null: the session does not have it.</summary>
    public T? Find<T>(Holding holding)
        where T : class
    {
        lock (_gate) return _held.GetValueOrDefault(holding) as T;
    }

    /// <summary>The session's lease of an object.</summary>
    /// <param name="grant">Grants it when it is first used.</param>
    public async ValueTask<TangoLease> LeaseAsync(
        string name, Func<ValueTask<TangoLease>> grant, CancellationToken cancellationToken)
    {
        await _granting.WaitAsync(cancellationToken);
        try
        {
            var holding = Holding.Entries(name);
            lock (_gate)
            {
                if (_held.TryGetValue(holding, out var known)) return (TangoLease)known;
            }

            var lease = await grant();
            await KeepAsync(holding, lease, lease.Lost);
            return lease;
        }
        finally
        {
            _granting.Release();
        }
    }

    public async ValueTask DisposeAsync()
    {
        IAsyncDisposable[] held;
        lock (_gate)
        {
            if (_isOver) return;
            _isOver = true;
            held = [.. _held.Values];
            _held.Clear();
        }

        await _ended.CancelAsync();
        await Task.WhenAll(held.Select(static one => one.DisposeAsync().AsTask()));
    }

    private void OnLost(Holding holding, IAsyncDisposable lost)
    {
        lock (_gate)
        {
            if (!_held.TryGetValue(holding, out var kept) || kept != lost) return;
            _held.Remove(holding);
        }

        // A caller that does not even take what it has lost is not there.
        if (!_events.Writer.TryWrite(new V1.SessionEvent { Lost = holding.ToLost() })) _ended.Cancel();
    }
}

/// <summary>Names one thing that a session holds.</summary>
/// <param name="Number">A lock's token or a delivery's item; zero: the lease of a dictionary's entries.</param>
/// <param name="Token">Of a delivery.</param>
internal readonly record struct Holding(string Object, long Number, long Token)
{
    private const long OfLock = -1;

    public static Holding Lock(string name, long fencingToken) => new(name, fencingToken, OfLock);

    public static Holding Delivery(string name, long item, long token) => new(name, item, token);

    public static Holding Entries(string name) => new(name, 0, 0);

    public V1.Lost ToLost()
    {
        var lost = new V1.Lost { Object = Object };
        if (Token == OfLock) lost.FencingToken = Number;
        else if (Number == 0) lost.Entries = true;
        else lost.Delivery = new V1.Delivery { Item = Number, Token = Token };
        return lost;
    }
}
