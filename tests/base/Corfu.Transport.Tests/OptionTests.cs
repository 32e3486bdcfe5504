using Corfu.Server;

namespace Corfu.Transport.Tests;

public sealed class OptionTests
{
    [Fact]
    public void Faults_of_all_options_stand_in_one_message()
    {
        var server =
            Assert.Throws<ArgumentException>(
                () => new ServerTransportOptions { MaxInFlight = 0, IdleTimeout = TimeSpan.Zero }.Validate());
        Assert.Equal("Out of range in ServerTransportOptions: "
            + "IdleTimeout is 0: it must be above 0, default 300 s. "
            + "MaxInFlight is 0: it must be at least 1, default 16,384.", server.Message);
        var client =
            Assert.Throws<ArgumentException>(
                () =>
                    new TcpTransport(new TcpTransportOptions
                    {
                        RequestTimeout = TimeSpan.Zero,
                        MaxBackOff = TimeSpan.Zero
                    }));
        Assert.Contains("RequestTimeout is 0: it must be at least 8 ms, default 10 s.", client.Message);
        Assert.Contains("MaxBackOff is 0: it must be at least FirstBackOff, default 500 ms.", client.Message);
    }
}
