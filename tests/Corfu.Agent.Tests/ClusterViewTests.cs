using Corfu.Protocol;
using Microsoft.Extensions.Logging.Abstractions;

namespace Corfu.Agent.Tests;

public sealed class ClusterViewTests
{
    /// <summary>One wrong number must not end what operators may say.</summary>
    [Fact]
    public void No_version_of_automation_is_the_last_one()
    {
        var options = new AgentOptions { Self = new NodeEndpoint("localhost", 1), Automatic = true };
        var view = new ClusterView(new Lock(), options, null!, null!, null!, NullLogger.Instance);
        view.Adopt(new Automation(long.MaxValue, IsOn: false));
        Assert.False(view.Automation.IsOn);
        Assert.InRange(view.Automation.Version, 1, long.MaxValue - 1);
        view.Adopt(new Automation(view.Automation.Version + 1, IsOn: true));
        Assert.True(view.Automation.IsOn);
    }
}
