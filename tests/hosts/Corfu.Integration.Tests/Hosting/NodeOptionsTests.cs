using Corfu.Hosting;
using Corfu.Integration.Tests.Support;
using Corfu.Protocol;
using Corfu.Transport;
using Microsoft.Extensions.DependencyInjection;
using Microsoft.Extensions.Options;

namespace Corfu.Integration.Tests.Hosting;

public sealed class NodeOptionsTests
{
    [Fact]
    public void All_faults_come_in_one_message()
    {
        var options = new NodeOptions { Name = "", Listen = "10.0.0.1:70000" };
        options.Roles.Add(new NodeRoleOptions { Role = NodeRole.Unit });
        options.Roles.Add(new NodeRoleOptions { Role = NodeRole.Sequencer, Folder = "x" });
        var result = new NodeOptionsValidator().Validate(null, options);
        Assert.True(result.Failed);
        foreach (var part in new[] { "Name:", "Cluster:", "Listen:", "the unit has no folder",
            "a sequencer stores nothing" })
            Assert.Contains(part, result.FailureMessage, StringComparison.Ordinal);
    }

    [Fact]
    public void Limits_of_every_role_come_from_the_file()
    {
        var options = Load("""
            {
              "server": { "maxConnections": 7, "frameTimeout": "00:00:05" },
              "unit": {
                "maxPayload": 1000, "maxStreams": 77, "handler": { "maxPendingReads": 3 },
                "store": { "hotBytes": 4194304 } },
              "sequencer": { "maxStreams": 9 }, "acceptor": { "keptSlots": 11 },
              "agent": {
                "detector": { "minRefusals": 4 }, "policy": { "minReplicas": 3 },
                "migration": { "batch": 5 }, "scrub": null }
            }
            """);
        var limits = options.Limits;
        Assert.Equal((7, TimeSpan.FromSeconds(5)), (limits.Server.MaxConnections, limits.Server.FrameTimeout));
        Assert.Equal((1000, 77, 3, 4 << 20),
            (limits.Unit.MaxPayload, limits.Unit.MaxStreams, limits.Unit.Handler.MaxPendingReads,
                limits.Unit.Store.HotBytes));
        Assert.Equal((9, 11, 4, 3),
            (limits.Sequencer.MaxStreams, limits.Acceptor.KeptSlots, limits.Agent.Detector.MinRefusals,
                limits.Agent.Policy.MinReplicas));
        Assert.Null(limits.Agent.Scrub);

        // Options that are left out have their defaults, also beside given ones.
        var defaults = new NodeLimits();
        Assert.Equal(defaults.Server.MaxInFlight, limits.Server.MaxInFlight);
        Assert.Equal(defaults.Unit.Store.LogPageSize, limits.Unit.Store.LogPageSize);
        Assert.Equal(defaults.Agent.Migration with { Batch = 5 }, limits.Agent.Migration);
    }

    [Fact]
    public void Faults_of_limits_come_in_one_message()
    {
        var fault = Assert.Throws<NodeStartException>(() => Load("""
            {
              "server": {
                "maxConnections": 0, "maxSharedInFlight": 0, "maxTotalOutput": 1, "maxBytesPerSecond": 0 },
              "unit": { "maxPayload": 0, "store": { "logPageSize": 5 } },
              "sequencer": { "maxStreams": 0 }, "acceptor": { "keptSlots": 0 },
              "agent": { "detector": { "minRefusals": 0 } }
            }
            """));
        foreach (var part in new[] { "MaxConnections", "MaxSharedInFlight", "MaxTotalOutput is 1",
            "MaxBytesPerSecond is 0", "MaxPayload", "LogPageSize is", "MaxStreams", "KeptSlots",
            "MinRefusals" })
            Assert.Contains(part, fault.Message, StringComparison.Ordinal);
        Assert.Contains("maxStream",
            Assert.Throws<NodeStartException>(() => Load("""{ "sequencer": { "maxStream": 1 } }""")).Message,
            StringComparison.Ordinal);
        Assert.Contains("belong to its role",
            Assert.Throws<NodeStartException>(() => Load("""{ "unit": { "folder": "x" } }""")).Message,
            StringComparison.Ordinal);
    }

    private static NodeOptions Load(string limits)
    {
        using var folder = new TempFolder();
        var file = folder.File("node.json");
        File.WriteAllText(file, $$"""
            {
              "name": "n", "cluster": "5ad7c2f6-9d0c-4b7e-8e55-6a4f3c1f7a10", "listen": "127.0.0.1:7000",
              "insecure": false,
              "roles": [ { "role": "Sequencer", "id": "00000000-0000-0000-0000-000000000000" } ], "limits": {{limits}}
            }
            """);
        return NodeConfig.Load(file);
    }

    [Theory]
    [InlineData("127.0.0.1:7000", false, true)]
    [InlineData("localhost:7000", false, true)]
    [InlineData("[::1]:7000", false, true)]
    [InlineData("10.1.2.3:7000", false, false)]
    [InlineData("0.0.0.0:7000", false, false)]
    [InlineData("0.0.0.0:7000", true, false)]
    [InlineData("[::]:7000", true, false)]
    [InlineData("10.1.2.3:7000", true, true)]
    [InlineData("example.org:7000", true, false)]
    [InlineData("127.0.0.1:0", true, false)]
    public void Other_addresses_than_loopback_need_insecure(string listen, bool insecure, bool valid)
    {
        var options = new NodeOptions { Cluster = Guid.NewGuid(), Listen = listen, Insecure = insecure };
        options.Roles.Add(new NodeRoleOptions { Role = NodeRole.Sequencer });
        Assert.Equal(valid, new NodeOptionsValidator().Validate(null, options).Succeeded);
    }

    [Theory]
    [InlineData(null, "certs", true)]
    [InlineData(TlsMode.Required, "certs", true)]
    [InlineData(TlsMode.Both, "certs", false)]
    [InlineData(TlsMode.Off, "certs", false)]
    [InlineData(TlsMode.Required, null, false)]
    public void Other_addresses_than_loopback_need_tls_or_insecure(TlsMode? mode, string? certs, bool valid)
    {
        var options = new NodeOptions
        {
            Cluster = Guid.NewGuid(),
            Listen = "10.1.2.3:7000",
            TlsMode = mode,
            Tls = new TlsOptions { Folder = certs },
        };
        options.Roles.Add(new NodeRoleOptions { Role = NodeRole.Sequencer });
        Assert.Equal(valid, new NodeOptionsValidator().Validate(null, options).Succeeded);
    }

    [Fact]
    public void Tls_of_the_file_is_read_with_folder_and_mappings()
    {
        using var folder = new TempFolder();
        var file = folder.File("node.json");
        File.WriteAllText(file, """
            {
              "name": "n", "cluster": "5ad7c2f6-9d0c-4b7e-8e55-6a4f3c1f7a10", "listen": "10.1.2.3:7000",
              "insecure": false,
              "tls": {
                "mode": "required", "certs": "certs", "expiredNodeGrace": "1.00:00:00",
                "map": [ { "role": "client", "name": "billing", "dns": "billing.example.org" } ]
              },
              "roles": [ { "role": "Sequencer", "id": "00000000-0000-0000-0000-000000000000" } ]
            }
            """);
        var options = NodeConfig.Load(file);
        Assert.Equal(folder.File("certs"), options.Tls.Folder);
        Assert.Equal(TlsMode.Required, options.TlsMode);
        Assert.Equal(TimeSpan.FromDays(1), options.Tls.ExpiredNodeGrace);
        Assert.Equal(new CertificateMapping(AccessRole.Client, "billing") { Dns = "billing.example.org" },
            Assert.Single(options.Tls.Map));
    }

    [Fact]
    public void Two_roles_in_one_folder_are_refused()
    {
        var options = new NodeOptions { Cluster = Guid.NewGuid(), Listen = "127.0.0.1:7000" };
        options.Roles.Add(new NodeRoleOptions { Role = NodeRole.Unit, Folder = "data" });
        options.Roles.Add(new NodeRoleOptions { Role = NodeRole.Acceptor, Folder = "./data" });
        Assert.Contains("share the folder", new NodeOptionsValidator().Validate(null, options).FailureMessage,
            StringComparison.Ordinal);
    }

    [Fact]
    public void Host_validates_before_the_start()
    {
        var services = new ServiceCollection().AddLogging().AddCorfuNode(node => node.Listen = "nowhere")
            .BuildServiceProvider();
        var fault =
            Assert.Throws<OptionsValidationException>(
                () => services.GetRequiredService<IStartupValidator>().Validate());
        Assert.Contains("'nowhere' is no address:port", fault.Message, StringComparison.Ordinal);
    }
}
