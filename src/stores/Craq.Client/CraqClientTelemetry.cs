using System.Diagnostics.Metrics;

namespace Craq;

/// <summary>Names and instruments of this package; times in seconds.</summary>
public static class CraqClientTelemetry
{
    public const string MeterName = "Craq.Client";

    internal static readonly Meter Meter = new(MeterName);

    internal static readonly Histogram<double> ReadTime =
        Meter.Duration("craq.client.read.duration", "One read of objects of a chain, retries included.");

    internal static readonly Histogram<double> WriteTime =
        Meter.Duration("craq.client.write.duration", "One mutation, from call to outcome, retries included.");

    internal static readonly Histogram<double> TransactTime = Meter.Duration(
        "craq.client.transact.duration", "One transaction over chains, from call to outcome, retries included.");

    internal static readonly Counter<long> Unknown =
        Count("write.unknown", "write", "Mutations and transactions whose outcome stayed unknown.");

    internal static readonly Counter<long> Retries =
        Count("retry", "retry", "Pauses before another round of attempts.");

    internal static readonly Counter<long> Silent =
        Count("request.silent", "request", "Requests that a node did not answer.");

    internal static readonly Counter<long> Views = Count("view.adopted", "view", "Newer configs of chains adopted.");

    private static Counter<long> Count(string name, string unit, string description) =>
        Meter.CreateCounter<long>($"craq.client.{name}", $"{{{unit}}}", description);
}
