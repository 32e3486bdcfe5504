using System.Diagnostics;
using System.Text.Json;
using System.Text.Json.Nodes;
using Corfu.Hosting;
using Microsoft.Extensions.Logging;

namespace Corfu.Operations.Tests;

public sealed class JsonLogTests
{
    [Fact]
    public async Task Log_in_json_is_an_object_a_line_with_event_category_and_fields()
    {
        string[] lines;
        string listen;
        await using (var node = await NodeUnderTest.StartAsync(config => config["log"] = new JsonObject
        {
            ["file"] = "node.jsonl",
            ["format"] = "json",
            ["levels"] = new JsonObject { ["Corfu.Agent"] = "Debug" },
        }))
        {
            listen = node.Listen;
            lines = await ReadLinesAsync(node.File("node.jsonl"));
        }

        var events = lines.Select(line => JsonDocument.Parse(line).RootElement).ToList();
        var serving = events.First(one => one.GetProperty("name").GetString() == "Serving");
        Assert.Equal("Information", serving.GetProperty("level").GetString());
        Assert.Equal("Corfu.Hosting.CorfuNode", serving.GetProperty("category").GetString());
        Assert.Equal(1, serving.GetProperty("event").GetInt32());
        Assert.Equal(listen, serving.GetProperty("fields").GetProperty("Endpoint").GetString());
        Assert.EndsWith("Z", serving.GetProperty("time").GetString(), StringComparison.Ordinal);
    }

    [Fact]
    public void Hostile_text_stays_on_one_line_that_names_the_trace()
    {
        var path = Path.GetTempFileName();
        File.Delete(path);
        using var source = new ActivitySource("JsonLogTests");
        using var all = new ActivityListener
        {
            ShouldListenTo = own => own.Name == source.Name,
            Sample = static (ref ActivityCreationOptions<ActivityContext> _) =>
                ActivitySamplingResult.AllDataAndRecorded,
        };
        ActivitySource.AddActivityListener(all);
        using var activity = source.StartActivity("a");
        using (var loggers = LoggerFactory.Create(logging => logging.AddNodeLogFile(path, Assert.Fail, json: true)))
            loggers.CreateLogger("Test").LogError(
                new InvalidOperationException("two\nlines"), "{Text}",
                "a\r\n{\"level\":\"forged\"}\u2028\u202e\u001b[2J");
        var line = Assert.Single(File.ReadAllLines(path));
        var one = JsonDocument.Parse(line).RootElement;
        Assert.Equal("Error", one.GetProperty("level").GetString());
        Assert.Equal(activity!.TraceId.ToHexString(), one.GetProperty("trace").GetString());
        Assert.Contains("two\nlines", one.GetProperty("exception").GetString(), StringComparison.Ordinal);
        Assert.DoesNotContain(line, char.IsControl);
        Assert.DoesNotContain('\u2028', line);
        Assert.DoesNotContain('\u202e', line);
        File.Delete(path);
    }

    [Fact]
    public void Level_of_the_longest_name_counts_and_may_change()
    {
        var levels = new NodeLogLevels(new Dictionary<string, LogLevel>
        {
            ["Corfu"] = LogLevel.Warning,
            ["Corfu.Agent"] = LogLevel.Debug,
        });
        Assert.True(levels.Allows("Corfu.Agent.ClusterAgent", LogLevel.Debug));
        Assert.False(levels.Allows("Corfu.AgentOther", LogLevel.Information));
        Assert.False(levels.Allows("Corfu.Unit", LogLevel.Information));
        Assert.True(levels.Allows("Other", LogLevel.Information));
        levels.Replace(new Dictionary<string, LogLevel> { ["Other"] = LogLevel.Error });
        Assert.False(levels.Allows("Other", LogLevel.Information));
        Assert.True(levels.Allows("Corfu.Unit", LogLevel.Information));
    }

    private static async Task<string[]> ReadLinesAsync(string path)
    {
        await using var file = new FileStream(path, FileMode.Open, FileAccess.Read, FileShare.ReadWrite);
        using var reader = new StreamReader(file);
        return (await reader.ReadToEndAsync()).Split('\n', StringSplitOptions.RemoveEmptyEntries);
    }
}
