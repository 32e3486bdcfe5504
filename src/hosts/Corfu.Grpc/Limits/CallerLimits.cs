using System.Threading.RateLimiting;
using Corfu.Extensions;
using Google.Protobuf;
using Grpc.Core;
using Microsoft.Extensions.Options;

namespace Corfu.Grpc;

/// <summary>The numbers that each caller has, and the shares.</summary>
internal sealed class CallerLimits : IDisposable
{
    private readonly ObjectPlaces _objects;
    private readonly PartitionedRateLimiter<string>? _calls;
    private readonly PartitionedRateLimiter<string>? _bytes;
    private readonly CorfuGrpcOptions _options;

    public CallerLimits(IOptions<CorfuGrpcOptions> options, IOptions<TangoSettings> runtime, TimeProvider time)
    {
        _options = options.Value;
        var stay = runtime.Value.Runtime.RemoteStay;
        var tango = _options.Tango;
        Calls = new Places(null, (nameof(_options.MaxCallsOfCaller), () => _options.MaxCallsOfCaller));
        Subscriptions = new Places(
            (nameof(_options.MaxSubscriptions), () => _options.MaxSubscriptions),
            (nameof(_options.MaxSubscriptionsOfCaller), () => _options.MaxSubscriptionsOfCaller));
        Watches = new Places(
            (nameof(tango.MaxWatches), () => tango.MaxWatches),
            (nameof(tango.MaxWatchesOfCaller), () => tango.MaxWatchesOfCaller));
        Sessions = new Places(
            (nameof(tango.MaxSessions), () => tango.MaxSessions),
            (nameof(tango.MaxSessionsOfCaller), () => tango.MaxSessionsOfCaller));
        Bytes = new ByteBudget(_options);
        Incoming = new ByteBudget(_options);
        Time = time;
        GrpcTelemetry.Bytes.Add(this, () => Bytes.Taken);
        Listings = new Listings(tango.MaxListings);
        _objects = new ObjectPlaces(() => tango.MaxObjectsOfCaller, () => stay, time);
        _calls = RateOf(_options.MaxCallsPerSecond);
        _bytes = RateOf(_options.MaxBytesPerSecond);
        GrpcTelemetry.Subscriptions.Add(this, () => Subscriptions.Count);
        GrpcTelemetry.Watches.Add(this, () => Watches.Count);
        GrpcTelemetry.Sessions.Add(this, () => Sessions.Count);
        GrpcTelemetry.Objects.Add(this, () => _objects.Count);
    }

    /// <summary>Calls under way that are neither subscription, watch nor session.</summary>
    public Places Calls { get; }

    public Places Subscriptions { get; }

    public Places Watches { get; }

    public Places Sessions { get; }

    /// <summary>Appends until their outcome, reads until their batch is sent.</summary>
    public ByteBudget Bytes { get; }

    /// <summary>Large messages that have not arrived as a whole.</summary>
    public ByteBudget Incoming { get; }

    public int LargestMessage => _options.MaxReceiveMessage;

    public TimeProvider Time { get; }

    public Listings Listings { get; }

    /// <summary>Counts a call before its request is read.</summary>
    /// <exception cref="FrontEndLimitException">The caller calls too often.</exception>
    public void AdmitCall(string caller) =>
        TakeNow(_calls, caller, 1, nameof(_options.MaxCallsPerSecond), _options.MaxCallsPerSecond);

    /// <summary>Counts the bytes and the objects of a request.</summary>
    /// <exception cref="FrontEndLimitException">The caller sends too much, or names too many objects.</exception>
    public void Admit(object request, IEnumerable<Demand> demands, ServerCallContext context)
    {
        var caller = Callers.NameOf(context);
        if (_bytes is not null && request is IMessage message)
            TakeNow(_bytes, caller, message.CalculateSize(), nameof(_options.MaxBytesPerSecond),
                _options.MaxBytesPerSecond);
        foreach (var demand in demands)
        {
            if (demand.Resource?.ObjectName is { } name) UseObject(caller, name);
        }
    }

    /// <exception cref="FrontEndLimitException">The caller has too many objects open.</exception>
    public void UseObject(string caller, string name) => _objects.Use(caller, name);

    /// <summary>Waits until the caller may send so many bytes more: what comes after them is not read.</summary>
    public async ValueTask WaitForBytesAsync(string caller, long bytes, CancellationToken cancellationToken)
    {
        if (_bytes is null || bytes == 0) return;
        using var lease = await _bytes.AcquireAsync(
            caller, Clamp(bytes, _options.MaxBytesPerSecond), cancellationToken);
    }

    public void Dispose()
    {
        GrpcTelemetry.Subscriptions.Remove(this);
        GrpcTelemetry.Watches.Remove(this);
        GrpcTelemetry.Sessions.Remove(this);
        GrpcTelemetry.Objects.Remove(this);
        GrpcTelemetry.Bytes.Remove(this);
        Bytes.Dispose();
        Incoming.Dispose();
        Listings.Dispose();
        _calls?.Dispose();
        _bytes?.Dispose();
    }

    private static int Clamp(long count, int? most) => (int)Math.Clamp(count, 1, most ?? int.MaxValue);

    private static void TakeNow(
        PartitionedRateLimiter<string>? limiter, string caller, long count, string name, int? most)
    {
        if (limiter is null) return;
        using var lease = limiter.AttemptAcquire(caller, Clamp(count, most));
        if (lease.IsAcquired) return;
        throw new FrontEndLimitException(
            name, most ?? 0, lease.TryGetMetadata(MetadataName.RetryAfter, out var wait) ? wait : null);
    }

    // A caller that was quiet may use a whole second's share at once.
    private static PartitionedRateLimiter<string>? RateOf(int? perSecond) => perSecond is { } rate
        ? PartitionedRateLimiter.Create<string, string>(caller => RateLimitPartition.GetTokenBucketLimiter(
            caller, _ => new TokenBucketRateLimiterOptions
            {
                TokenLimit = rate,
                TokensPerPeriod = rate,
                ReplenishmentPeriod = TimeSpan.FromSeconds(1),
                QueueLimit = int.MaxValue,
            }))
        : null;
}
