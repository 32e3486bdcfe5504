using System.Text.Json;
using Corfu.Protocol;

namespace Corfu.Grpc.Tests.Limits;

/// <summary>The options of a node's front end, as <c>limits.grpc</c> of its configuration.</summary>
public sealed class NodeOptionTests
{
    [Fact]
    public void Limits_reach_the_options()
    {
        var options = Read(
            """
            { "maxBytesOfCaller": 8388608, "maxCallsPerSecond": 50, "heartbeat": "00:00:01",
              "tango": { "maxSessions": 5, "objectStay": "00:10:00" } }
            """);
        Assert.Equal((8 << 20, 50), (options.MaxBytesOfCaller, options.MaxCallsPerSecond));
        Assert.Equal((5, TimeSpan.FromMinutes(10)), (options.Tango.MaxSessions, options.Tango.ObjectStay));
        Assert.Equal(TimeSpan.FromSeconds(1), options.Heartbeat);
        Assert.Equal(new CorfuGrpcOptions().MaxSubscriptions, options.MaxSubscriptions);
    }

    [Theory]
    [InlineData("""{ "maxByteOfCaller": 1 }""", "maxByteOfCaller")]
    [InlineData("""{ "tango": { "maxSession": 1 } }""", "maxSession")]
    [InlineData("""{ "maxSubscriptions": "many" }""", "MaxSubscriptions")]
    [InlineData("""{ "maxSubscriptions": 0 }""", "MaxSubscriptions")]
    [InlineData("""{ "allowAdmin": true }""", "'allow'")]
    [InlineData("""{ "RequireRights": false }""", "'allow'")]
    [InlineData("[]", "not an object")]
    public void Fault_is_named(string json, string fault)
    {
        var refused = Assert.Throws<FrontEndStartException>(() => Read(json));
        Assert.StartsWith("limits.grpc: ", refused.Message, StringComparison.Ordinal);
        Assert.Contains(fault, refused.Message, StringComparison.OrdinalIgnoreCase);
    }

    private static CorfuGrpcOptions Read(string json)
    {
        var options = new CorfuGrpcOptions();
        new GrpcFrontEndOptions(new NodeEndpoint("127.0.0.1", 1), "corfu://127.0.0.1:1")
        {
            Limits = JsonDocument.Parse(json).RootElement,
        }.Configure(options);
        return options;
    }
}
