using Corfu.Server;

namespace Corfu.Transport.Tests;

public sealed class OptionTests
{
    [Fact]
    public void All_faults_in_one_message()
    {
        var server =
            Assert.Throws<ArgumentException>(
                () => new ServerTransportOptions { MaxInFlight = 0, IdleTimeout = TimeSpan.Zero }.Validate());
        Assert.Contains("IdleTimeout, MaxInFlight", server.Message);
        var client =
            Assert.Throws<ArgumentException>(
                () =>
                    new TcpTransport(new TcpTransportOptions
                    {
                        RequestTimeout = TimeSpan.Zero,
                        MaxBackOff = TimeSpan.Zero
                    }));
        Assert.Contains("RequestTimeout, MaxBackOff", client.Message);
    }
}
