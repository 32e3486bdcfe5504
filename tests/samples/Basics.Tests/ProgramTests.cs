using System.Reflection;
using System.Text.RegularExpressions;

namespace Basics.Tests;

/// <summary>The programs of samples/Basics, run in this process: each prints what the page says.</summary>
public sealed partial class ProgramTests
{
    private const int LongestProgram = 60;

    // For a program that hangs.
    private static readonly TimeSpan s_patience = TimeSpan.FromMinutes(2);

    private static readonly string s_page = Checkout.Read("samples/Basics/README.md");

    public static TheoryData<string> Names => [.. Checkout.Folders("samples/Basics")];

    [Theory]
    [MemberData(nameof(Names))]
    public async Task Program_run_prints_the_output_of_the_page(string name)
    {
        var before = Console.Out;
        await using var output = new StringWriter();
        Console.SetOut(output);
        try
        {
            // The entry point blocks until the program has ended.
            await Task.Run(() => Assembly.Load($"Basics.{name}").EntryPoint!.Invoke(null, [Array.Empty<string>()]))
                .WaitAsync(s_patience);
        }
        finally
        {
            Console.SetOut(before);
        }

        Assert.Equal(Output(name), output.ToString().ReplaceLineEndings("\n"));
    }

    [Theory]
    [MemberData(nameof(Names))]
    public void Program_is_short(string name) =>
        Assert.InRange(Checkout.Read($"samples/Basics/{name}/Program.cs").Count(c => c == '\n'), 1, LongestProgram);

    [Fact]
    public void Page_has_a_section_for_each_program() =>
        Assert.Equal(
            Checkout.Folders("samples/Basics"),
            Heading().Matches(s_page).Select(match => match.Groups[1].Value).Order());

    /// <summary>Pages show parts of these programs, so that their code is compiled and run here.</summary>
    [Theory]
    [InlineData("README.md")]
    [InlineData("docs/zookeeper.md")]
    [InlineData("docs/state-machines.md")]
    [InlineData("docs/store.md")]
    public void Code_of_a_page_stands_in_the_named_program(string page)
    {
        var blocks = Block().Matches(Checkout.Read(page));
        Assert.NotEmpty(blocks);
        foreach (Match block in blocks)
            Assert.Contains(block.Groups[2].Value, Checkout.Read(block.Groups[1].Value), StringComparison.Ordinal);
    }

    private static string Output(string name)
    {
        var section = Regex.Match(
            s_page, $@"^## {name}\n.*?^```\n(.*?)^```$", RegexOptions.Multiline | RegexOptions.Singleline);
        Assert.True(section.Success, $"The page does not say what {name} prints.");
        return section.Groups[1].Value;
    }

    [GeneratedRegex("^## (.*)$", RegexOptions.Multiline)]
    private static partial Regex Heading();

    // A C# block, below the comment that names its file.
    [GeneratedRegex("^(?:<!-- (\\S+) -->\n)?```csharp\n(.*?)^```$", RegexOptions.Multiline | RegexOptions.Singleline)]
    private static partial Regex Block();
}
