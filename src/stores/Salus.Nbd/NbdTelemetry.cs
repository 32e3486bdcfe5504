using System.Diagnostics;
using System.Diagnostics.Metrics;
using Salus.Nbd.Wire;

namespace Salus.Nbd;

/// <summary>Instruments of the NBD servers of this process; times in seconds.</summary>
public static class NbdTelemetry
{
    public const string MeterName = "Salus.Nbd";

    private static readonly Meter s_meter = new(MeterName);

    internal static readonly UpDownCounter<int> Connections =
        s_meter.CreateUpDownCounter<int>("salus.nbd.connection", "{connection}", "Clients that use a volume now.");

    internal static readonly Counter<long> Refused = s_meter.CreateCounter<long>(
        "salus.nbd.refused", "{connection}", "Connections that ended before they used a volume.");

    private static readonly Histogram<double> s_requestTime = s_meter.Duration("salus.nbd.request.duration",
        "From the last byte of a command to its reply, by command and error.");

    private static readonly Counter<long> s_io =
        s_meter.CreateCounter<long>("salus.nbd.io", "By", "Bytes read and written by clients.");

    private static readonly KeyValuePair<string, object?> s_read = "salus.direction".With("read");
    private static readonly KeyValuePair<string, object?> s_written = "salus.direction".With("written");

    /// <summary>The time at which a command begins; 0 without a listener.</summary>
    internal static long Begin() => s_requestTime.Enabled ? Stopwatch.GetTimestamp() : 0;

    internal static void End(in RequestHeader header, NbdError error, long began)
    {
        if (began != 0)
        {
            s_requestTime.Record(Stopwatch.GetElapsedTime(began).TotalSeconds,
                "salus.command".With(NameOf(header.Code)), "salus.error".With(error.ToString()));
        }

        if (error != NbdError.None || !s_io.Enabled) return;
        if (header.Code == CommandCode.Read) s_io.Add(header.Length, s_read);
        else if (header.Code == CommandCode.Write) s_io.Add(header.Length, s_written);
    }

    // A client makes no series of its own.
    private static string NameOf(CommandCode code) =>
        code is >= CommandCode.Read and <= CommandCode.BlockStatus ? code.ToString() : BoundedValues.Other;
}
