using Microsoft.Extensions.Logging;
using Tango;

namespace Salus.Coordination;

/// <summary>The registration of this process: its lease in the <see cref="NodeBook"/>. When it is lost, the process
/// takes a new incarnation and registers again.</summary>
public sealed partial class NodeLease : IAsyncDisposable
{
    /// <summary>The share of the lease that is left for clocks of unequal rates.</summary>
    private const int Margin = 10;

    /// <summary>Free space is told when it has changed by this share: placement weighs by it.</summary>
    private const int FreeShare = 16;

    private static readonly TimeSpan s_tellEvery = TimeSpan.FromSeconds(5);

    private readonly NodeBook _book;
    private readonly NodeRegistration _self;
    private readonly TimeProvider _time;
    private readonly IEntropy _entropy;
    private readonly ILogger _logger;
    private readonly LoopContext _loops;
    private readonly LeaseKeeper<Term> _keeper;
    private long _free;
    private volatile bool _isEnding;

    /// <param name="self">The store's folder is locked by this process.</param>
    public NodeLease(NodeBook book, NodeRegistration self, TimeProvider time, IEntropy entropy, LoopContext loops,
        ILogger logger)
    {
        ArgumentNullException.ThrowIfNull(self);
        (_book, _self, _time, _entropy, _loops, _logger) = (book, self, time, entropy, loops, logger);
        _free = self.Free;
        _keeper = new LeaseKeeper<Term>(RegisterAsync, static term => term.Lease, OnChange, time, loops);
    }

    /// <summary>The lease was granted or is lost. Raised on any thread: quick. A handler that comes later looks at
    /// <see cref="Incarnation"/> first.</summary>
    public event Action? Changed;

    /// <summary>The name under which the process signs; none while it has no lease. A name that was lost never
    /// returns.</summary>
    public Incarnation Incarnation => _keeper.Term?.Incarnation ?? default;

    /// <summary>Whether the lease is far from its end: no other process counts the incarnation as gone.</summary>
    // Others begin where this one ends, with a margin for clocks of unequal rates (S8, S13).
    public bool IsHeld => _keeper.Term is { } term && term.Lease.Remaining > _self.TimeToLive / Margin;

    /// <summary>Why the process is not registered, as the last attempt heard.</summary>
    public Exception? Failure => _keeper.Failure;

    /// <summary>Whether the lease is held under this incarnation.</summary>
    public bool Holds(Incarnation incarnation) =>
        _keeper.Term is { } term && term.Incarnation == incarnation
        && term.Lease.Remaining > _self.TimeToLive / Margin;

    /// <summary>Bytes that the store takes. The book is told of it when it has changed much.</summary>
    public void SetFree(long free) => Volatile.Write(ref _free, Math.Max(0, free));

    /// <summary>Ends the lease: the process signs no more before it calls this.</summary>
    public ValueTask DisposeAsync()
    {
        _isEnding = true;
        return _keeper.DisposeAsync();
    }

    private async Task<Term> RegisterAsync(CancellationToken cancellationToken)
    {
        var incarnation = new Incarnation(
            Planted.Is("restart-keeps-generation")
                ? new Guid(_self.Store.Value.ToByteArray(bigEndian: true))
                : _entropy.NewGuid());
        var free = Volatile.Read(ref _free);
        var lease = await _book.RegisterAsync(new BookedNode(_self.Store, incarnation, _self.Endpoint, _self.Domain,
            free, BookedState.Live, 0), _self.TimeToLive, cancellationToken);
        var term = new Term(incarnation, lease);
        LogRegistered(_self.Store, incarnation);
        _loops.Start(() => TellFreeAsync(term, free));
        return term;
    }

    private void OnChange()
    {
        if (!_isEnding && _keeper is { Term: null }) LogLost(_self.Store);
        Changed?.Invoke();
    }

    private async Task TellFreeAsync(Term term, long told)
    {
        while (!term.Lease.Lost.IsCancellationRequested)
        {
            try
            {
                await Task.Delay(s_tellEvery, _time, term.Lease.Lost);
                var free = Volatile.Read(ref _free);
                if (Math.Abs(free - told) <= told / FreeShare) continue;
                if (!await _book.SetFreeAsync(_self.Store.Value, term.Incarnation.Value, free, term.Lease.Lost)) return;
                told = free;
            }
            catch (OperationCanceledException)
            {
                return;
            }
            catch (Exception e) when (e is CorfuException or TangoException)
            {
                LogUntold(_self.Store, e);
            }
        }
    }

    [LoggerMessage(1, LogLevel.Information, "Store {Store} is served under incarnation {Incarnation}")]
    private partial void LogRegistered(StoreId store, Incarnation incarnation);

    [LoggerMessage(2, LogLevel.Warning,
        "The process of store {Store} has lost its lease, and serves nothing until it has another: look whether it "
        + "reaches the log")]
    private partial void LogLost(StoreId store);

    [LoggerMessage(3, LogLevel.Information, "The free space of store {Store} was not told")]
    private partial void LogUntold(StoreId store, Exception error);

    private sealed record Term(Incarnation Incarnation, TangoLease Lease);
}

/// <summary>A process as it registers itself.</summary>
/// <param name="Domain">As of <see cref="BookedNode"/>.</param>
/// <param name="Free">Bytes that the store takes now.</param>
/// <param name="TimeToLive">Without a renewal for so long the process counts as gone.</param>
public sealed record NodeRegistration(StoreId Store, NodeEndpoint Endpoint, string Domain, long Free,
    TimeSpan TimeToLive)
{
    public static readonly TimeSpan DefaultTimeToLive = TimeSpan.FromSeconds(5);
}
