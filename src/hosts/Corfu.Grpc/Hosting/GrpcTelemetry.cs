using System.Collections.Concurrent;
using System.Diagnostics.Metrics;

namespace Corfu.Grpc;

/// <summary>Names and instruments of the gRPC front end.</summary>
public static class GrpcTelemetry
{
    public const string MeterName = "Corfu.Grpc";

    private static readonly Meter Meter = new(MeterName);

    private static readonly Counter<long> Denied = Meter.CreateCounter<long>(
        "corfu.grpc.denied", "{call}", "Calls and entries refused because their caller lacks a right.");

    internal static readonly Sum Subscriptions =
        new("corfu.grpc.subscription", "{subscription}", "Open subscriptions.");

    internal static readonly Sum Watches = new("corfu.grpc.watch", "{watch}", "Open watches.");

    internal static readonly Sum Sessions = new("corfu.grpc.session", "{session}", "Open sessions.");

    internal static readonly Sum Objects =
        new("corfu.grpc.object.open", "{object}", "Objects that callers have open, each caller's counted.");

    internal static readonly Sum Bytes = new(
        "corfu.grpc.append.in_flight.size", "By", "Payloads of appends whose outcome is open, and of batches read.");

    internal static void Refused(string method) =>
        Denied.Add(1, new KeyValuePair<string, object?>("corfu.method", method.TrimStart('/')));

    /// <summary>A gauge over all front ends of the process.</summary>
    internal sealed class Sum
    {
        private readonly ConcurrentDictionary<object, Func<long>> _parts = new();

        public Sum(string name, string unit, string description) =>
            Meter.CreateObservableGauge(name, () => _parts.Values.Sum(static part => part()), unit, description);

        public void Add(object owner, Func<long> count) => _parts[owner] = count;

        public void Remove(object owner) => _parts.TryRemove(owner, out _);
    }
}
