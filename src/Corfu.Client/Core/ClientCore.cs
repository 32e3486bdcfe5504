using Corfu.Client.Layout;
using Corfu.Protocol;
using Corfu.Transport;
using Microsoft.Extensions.Logging;

namespace Corfu.Client;

/// <summary>The ports and the shared state of one client; every part of the client has it.</summary>
internal sealed partial class ClientCore
{
    private readonly CancellationTokenSource _closed = new();
    private readonly SharedInstalls _installs;
    private long _sequence;

    public ClientCore(
        Projection first, ITransport transport, TimeProvider time, IEntropy entropy, ILogger logger, CorfuClientOptions options)
    {
        Transport = transport;
        Layout = new LayoutClient(transport, entropy, time, options.Layout);
        Time = time;
        Entropy = entropy;
        Logger = logger;
        Options = options;
        Writer = new WriterId(entropy.NewGuid());
        Projections = new ProjectionHolder(first, p => new EpochView(p, new GrantClock(time.TimestampFrequency / 4000)));
        Refresher = new ProjectionRefresher(this);
        Reconfigurer = new Reconfigurer(transport, Layout, time, logger, options.Reconfiguration);
        Frozen = new FrozenTails(this);
        HandOver = new StreamHandOver(this, Frozen);
        _installs = new SharedInstalls(this);
    }

    public ITransport Transport { get; }

    public LayoutClient Layout { get; }

    public TimeProvider Time { get; }

    public IEntropy Entropy { get; }

    public ILogger Logger { get; }

    public CorfuClientOptions Options { get; }

    public ProjectionHolder Projections { get; }

    public ProjectionRefresher Refresher { get; }

    public Reconfigurer Reconfigurer { get; }

    public FrozenTails Frozen { get; }

    public StreamHandOver HandOver { get; }

    /// <summary>R9: random per incarnation.</summary>
    public WriterId Writer { get; }

    public EpochView View => Projections.Current;

    /// <summary>Cancelled when the client is closed.</summary>
    public CancellationToken Closed => _closed.Token;

    public EntryOrigin NextOrigin() => new(Writer, Interlocked.Increment(ref _sequence));

    public void Close() => _closed.Cancel();

    public void ThrowIfClosed() => ObjectDisposedException.ThrowIf(_closed.IsCancellationRequested, typeof(CorfuClient));

    /// <summary>
    /// One request to a unit. A unit that has not heard of the epoch yet gets its projection first (R14). Any status may come back, Sealed
    /// above all; <see cref="TransportException"/> as the transport throws it.
    /// </summary>
    public async ValueTask<TResponse> CallUnitAsync<TResponse>(
        EpochView view, NodeId unit, Request<TResponse> request, CancellationToken cancellationToken)
        where TResponse : Response
    {
        // What has left the projection meanwhile might not answer at all.
        if (View is var newest && newest != view && !newest.Projection.HasUnit(unit)) return (TResponse)request.Fail(Status.Sealed, newest.Epoch);
        var address = view.Projection.AddressOf(unit);
        var response = await Transport.CallAsync(address, request, cancellationToken);
        if (response.Status != Status.NotInstalled) return response;
        return await InstallAndCallAsync(view, address, request, cancellationToken);
    }

    /// <summary>For the answer <see cref="Status.NotInstalled"/>.</summary>
    public async ValueTask<TResponse> InstallAndCallAsync<TResponse>(
        EpochView view, NodeAddress address, Request<TResponse> request, CancellationToken cancellationToken)
        where TResponse : Response
    {
        var installed = await _installs.InstallAsync(view.Projection, address).WaitOrCancelAsync(cancellationToken);
        if (!installed.IsOk) return (TResponse)request.Fail(installed.Status, installed.Epoch);
        return await Transport.CallAsync(address, request, cancellationToken);
    }

    /// <summary>One request to the sequencer, which is bootstrapped for the epoch if nobody has done it yet (R7).</summary>
    public async ValueTask<TResponse> CallSequencerAsync<TResponse>(
        EpochView view, Request<TResponse> request, CancellationToken cancellationToken)
        where TResponse : Response
    {
        if (View is var newest && newest != view && newest.Projection.Sequencer.Id != view.Projection.Sequencer.Id)
            return (TResponse)request.Fail(Status.Sealed, newest.Epoch);
        var address = view.Projection.Sequencer;
        var response = await Transport.CallAsync(address, request, cancellationToken);
        if (response.Status != Status.NotBootstrapped) return response;
        var bootstrapped = await Transport.CallAsync(address, new BootstrapRequest(view.Projection), cancellationToken);
        if (!bootstrapped.IsOk) return (TResponse)request.Fail(bootstrapped.Status, bootstrapped.Epoch);
        return await Transport.CallAsync(address, request, cancellationToken);
    }

    public Patience Patience(string what, CancellationToken cancellationToken) => new(this, what, cancellationToken);

    /// <summary>Waits for the task, at most so long; whether it has ended.</summary>
    /// <exception cref="ObjectDisposedException">The client was closed.</exception>
    public async ValueTask<bool> InTimeAsync(Task task, TimeSpan limit, CancellationToken cancellationToken)
    {
        if (task.IsCompleted) return true;
        var over = new TaskCompletionSource(TaskCreationOptions.RunContinuationsAsynchronously);

        // Timers know whole milliseconds, rounded down: less than one would be no wait, and a caller's loop a busy one.
        var due = TimeSpan.FromMilliseconds(Math.Ceiling(limit.TotalMilliseconds));
        using (Time.CreateTimer(static o => ((TaskCompletionSource)o!).TrySetResult(), over, due, Timeout.InfiniteTimeSpan))
        using (cancellationToken.UnsafeRegister(static o => ((TaskCompletionSource)o!).TrySetResult(), over))
        using (Closed.UnsafeRegister(static o => ((TaskCompletionSource)o!).TrySetResult(), over))
            await Task.WhenAny(task, over.Task);
        cancellationToken.ThrowIfCancellationRequested();
        ThrowIfClosed();
        return task.IsCompleted;
    }
}
