using Corfu.Protocol;

namespace Corfu.Protocol.Tests;

/// <summary>Any bytes at all decode to a value or to <see cref="MalformedDataException"/>, without allocating what a
/// length field claims.</summary>
public sealed class AnyBytesTests
{
    private static readonly Opcode[] Requests = [.. Enum.GetValues<Opcode>().Where(o => o != Opcode.None)];

    /// <summary>Garbage of a few hundred bytes may cost its decoder some multiple of its own size, never the megabytes
    /// that it claims.</summary>
    private const long AllocationBound = 256 << 10;

    private static void Bounded(Action decode)
    {
        var before = GC.GetAllocatedBytesForCurrentThread();
        try
        {
            decode();
        }
        catch (MalformedDataException)
        {
        }

        Assert.InRange(GC.GetAllocatedBytesForCurrentThread() - before, 0, AllocationBound);
    }

    public static TheoryData<int> Seeds => [.. Enumerable.Range(1, 20)];

    [Theory]
    [MemberData(nameof(Seeds))]
    public void Random_and_mutated_bytes(int seed)
    {
        var random = new Random(seed);
        var samples = SampleMessages.Requests().Select(SampleMessages.Body).ToArray();
        for (var i = 0; i < 2_000; i++)
        {
            var bytes = Mutate(random, samples[random.Next(samples.Length)]);
            var header = new FrameHeader(bytes.Length, 1, new Epoch(random.Next(4)),
                Requests[random.Next(Requests.Length)], (Status)random.Next(20));
            Bounded(() => MessageCodec.ReadRequest(header, bytes, SampleMessages.Table,
                WireProtocol.Current.Highest));
            var request = SampleMessages.Requests()[random.Next(SampleMessages.Requests().Count)];
            Bounded(() => MessageCodec.ReadResponse(request, header with { Opcode = request.Opcode }, bytes));
            Bounded(() => ProjectionCodec.Decode(bytes));
            Bounded(() => EntryCodec.Decode(bytes));
            Bounded(() => EntryCodec.DecodeHeaders(bytes));
            if (bytes.Length >= MessageCodec.HeaderSize) Bounded(() => FrameHeader.Parse(bytes));
        }
    }

    private static byte[] Mutate(Random random, byte[] sample)
    {
        if (random.Next(4) == 0)
        {
            var noise = new byte[random.Next(300)];
            random.NextBytes(noise);
            return noise;
        }

        var bytes = sample.AsSpan(0, random.Next(3) == 0 ? random.Next(sample.Length + 1) : sample.Length).ToArray();
        for (var n = random.Next(4); n > 0 && bytes.Length > 0; n--)
        {
            // Extreme values in length fields find more than single random bytes do.
            var at = random.Next(bytes.Length);
            var value = random.Next(3) switch { 0 => (byte)0xFF, 1 => (byte)0x7F, _ => (byte)random.Next(256) };
            for (var k = at; k < Math.Min(bytes.Length, at + random.Next(1, 5)); k++) bytes[k] = value;
        }

        return bytes;
    }
}
