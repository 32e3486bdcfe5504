using Corfu.Hosting;
using Corfu.Protocol;
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
        foreach (var part in new[] { "Name:", "Cluster:", "Listen:", "the unit has no folder", "a sequencer stores nothing" })
            Assert.Contains(part, result.FailureMessage, StringComparison.Ordinal);
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

    [Fact]
    public void Two_roles_in_one_folder_are_refused()
    {
        var options = new NodeOptions { Cluster = Guid.NewGuid(), Listen = "127.0.0.1:7000" };
        options.Roles.Add(new NodeRoleOptions { Role = NodeRole.Unit, Folder = "data" });
        options.Roles.Add(new NodeRoleOptions { Role = NodeRole.Acceptor, Folder = "./data" });
        Assert.Contains("share the folder", new NodeOptionsValidator().Validate(null, options).FailureMessage, StringComparison.Ordinal);
    }

    [Fact]
    public void A_host_validates_before_it_starts()
    {
        var services = new ServiceCollection().AddLogging().AddCorfuNode(node => node.Listen = "nowhere").BuildServiceProvider();
        var fault = Assert.Throws<OptionsValidationException>(() => services.GetRequiredService<IStartupValidator>().Validate());
        Assert.Contains("'nowhere' is no address:port", fault.Message, StringComparison.Ordinal);
    }
}
