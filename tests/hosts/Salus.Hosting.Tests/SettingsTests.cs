using System.Text.Json;

namespace Salus.Hosting.Tests;

public sealed class SettingsTests
{
    [Fact]
    public void Settings_survive_the_configuration_file()
    {
        var settings = new SalusNodeSettings
        {
            Domain = "rack1",
            StoreOnly = true,
            LeaseTime = TimeSpan.FromSeconds(7),
            SegmentSize = 16 << 20,
            LogLimit = 128 << 20,
            ScrubSpeed = 0,
            ScrubPause = TimeSpan.FromSeconds(9),
        };
        Assert.Equal(settings, SalusNodeSettings.Read(settings.ToJson()));
        Assert.Equal(new SalusNodeSettings(), SalusNodeSettings.Read(null));
        Assert.Null(SalusNodeRole.Instance.FaultOf(settings.ToJson()));
        Assert.Null(SalusNodeRole.Instance.FaultOf(null));
    }

    [Theory]
    [InlineData("""{ "leaseTime": "00:00:00.1" }""", "LeaseTime")]
    [InlineData("""{ "logLimit": 4096 }""", "LogLimit")]
    [InlineData("""{ "domain": 3 }""", "domain")]
    [InlineData("""{ "scrubSpeed": -1 }""", "ScrubSpeed")]
    [InlineData("""{ "racks": 3 }""", "racks")]
    public void Fault_names_the_setting(string settings, string named)
    {
        using var json = JsonDocument.Parse(settings);
        Assert.Contains(named, SalusNodeRole.Instance.FaultOf(json.RootElement), StringComparison.Ordinal);
    }
}
