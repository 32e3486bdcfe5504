using System.Diagnostics;
using HdrHistogram;
using HdrHistogram.Utilities;

namespace Corfu.Load;

/// <summary>
/// Latencies in nanoseconds as HdrHistogram keeps them. Two significant digits: a value is off by at most 1 %, and each
/// of hundreds of callers can have a histogram of its own (40 KB), so recording needs no lock.
/// </summary>
internal static class Latencies
{
    private const int Digits = 2;
    private const long LongestNanoseconds = 3_600_000_000_000;

    public static LongHistogram Create() => new(LongestNanoseconds, Digits);

    /// <summary>Anything longer than an hour counts as an hour.</summary>
    public static void RecordNanoseconds(this LongHistogram histogram, long nanoseconds) =>
        histogram.RecordValue(Math.Clamp(nanoseconds, 0, LongestNanoseconds));

    /// <summary>The time since a timestamp of <see cref="Stopwatch"/>.</summary>
    public static void RecordSince(this LongHistogram histogram, long timestamp) =>
        histogram.RecordNanoseconds((long)Stopwatch.GetElapsedTime(timestamp).TotalNanoseconds);

    /// <summary>The value that so many percent of the samples do not exceed; 0 without samples.</summary>
    public static double Microseconds(this LongHistogram histogram, double percent) =>
        histogram.TotalCount == 0 ? 0 : histogram.GetValueAtPercentile(percent) / 1000.0;

    /// <summary>How a process hands its samples to another: HdrHistogram's compressed V2 encoding in base 64.</summary>
    public static string Encode(this LongHistogram histogram)
    {
        var buffer = ByteBuffer.Allocate(histogram.GetNeededByteBufferCapacity());
        var length = histogram.EncodeIntoCompressedByteBuffer(buffer);
        buffer.Position = 0;
        var bytes = new byte[length];
        for (var i = 0; i < length; i++) bytes[i] = buffer.Get();
        return Convert.ToBase64String(bytes);
    }

    public static LongHistogram Decode(string text) =>
        (LongHistogram)HistogramEncoding.DecodeFromCompressedByteBuffer(
            ByteBuffer.Allocate(Convert.FromBase64String(text)), LongestNanoseconds);
}
