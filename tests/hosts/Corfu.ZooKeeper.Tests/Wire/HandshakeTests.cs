namespace Corfu.ZooKeeper.Tests.Wire;

public sealed class HandshakeTests
{
    private static readonly ImmutableArray<byte> s_password = [.. Enumerable.Range(1, 16).Select(i => (byte)i)];

    [Theory]
    [InlineData(null, 44, 36)]
    [InlineData(false, 45, 37)]
    [InlineData(true, 45, 37)]
    public void Both_forms_are_read_and_answered_alike(bool? readOnly, int requestSize, int answerSize)
    {
        var request = new ConnectRequest(0x1234, 10_000, 0x5678, s_password, readOnly);
        using var writer = new JuteWriter();
        request.Write(writer);
        Assert.Equal(requestSize, writer.Length - sizeof(int));
        Assert.Equal(request, ConnectRequest.Read(writer.Written[sizeof(int)..]));

        writer.Clear();
        var answer = new ConnectResponse(4_000, 0x5678, s_password, readOnly);
        answer.Write(writer);
        Assert.Equal(answerSize, writer.Length - sizeof(int));
        Assert.Equal(answer, ConnectResponse.Read(writer.Written[sizeof(int)..]));
    }

    [Fact]
    public void Refusal_has_no_session_and_16_zero_bytes()
    {
        using var writer = new JuteWriter();
        ConnectResponse.Refusal(null).Write(writer);
        Assert.Equal("00000024" + new string('0', 8 + 8 + 16) + "00000010" + new string('0', 32),
            Convert.ToHexString(writer.Written));
    }

    [Fact]
    public void Handshake_that_is_cut_is_malformed()
    {
        using var writer = new JuteWriter();
        new ConnectRequest(1, 2, 3, s_password, null).Write(writer);
        var frame = writer.Written[sizeof(int)..];
        for (var length = 0; length < frame.Length; length++) Assert.Null(ConnectRequest.Read(frame[..length]));
    }
}
