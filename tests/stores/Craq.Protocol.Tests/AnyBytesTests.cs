namespace Craq.Protocol.Tests;

/// <summary>Any bytes at all decode to a value or to <see cref="MalformedDataException"/>, without allocating what a
/// length field claims.</summary>
public sealed class AnyBytesTests
{
    private const long AllocationBound = 512 << 10;

    public static TheoryData<int> Seeds => [.. Enumerable.Range(1, 10)];

    [Theory]
    [MemberData(nameof(Seeds))]
    public void Random_and_changed_bytes_are_refused_or_read(int seed)
    {
        var random = new Random(seed);
        var samples = SampleMessages.All();
        var record = RecordCodec.Encode(SampleMessages.Record());
        for (var i = 0; i < 2_000; i++)
        {
            var (request, answers) = samples[random.Next(samples.Count)];
            var body = Changed(random, SampleMessages.Body(request));
            Bounded(() => MessageCodec.ReadRequest(SampleMessages.Header(request.Opcode, Status.Ok, body.Length), body,
                SampleMessages.Table, WireProtocol.Current.Highest));
            var answer = answers[random.Next(answers.Length)];
            var bytes = Changed(random, SampleMessages.Body(answer));
            Bounded(() => MessageCodec.ReadResponse(request,
                SampleMessages.Header(request.Opcode, answer.Status, bytes.Length), bytes));
            var damaged = Changed(random, record);
            Bounded(() => RecordCodec.Decode(damaged));
            Bounded(() => RecordCodec.AreHeadsAlone(Changed(random, record)));
        }
    }

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

    private static byte[] Changed(Random random, byte[] sample)
    {
        var bytes = sample.AsSpan(0, random.Next(3) == 0 ? random.Next(sample.Length + 1) : sample.Length).ToArray();
        for (var n = random.Next(4); n > 0 && bytes.Length > 0; n--)
        {
            var at = random.Next(bytes.Length);
            var value = random.Next(3) switch { 0 => (byte)0xFF, 1 => (byte)0x7F, _ => (byte)random.Next(256) };
            for (var k = at; k < Math.Min(bytes.Length, at + random.Next(1, 5)); k++) bytes[k] = value;
        }

        return bytes;
    }
}
