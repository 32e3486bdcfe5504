using System.Globalization;

namespace Corfu.FaultRuns.Transactions;

/// <summary>
/// The lines of a client's history: <c>tx NAME BEGAN STEPS</c> before anything of it is sent, <c>end NAME TIME FATE</c>
/// when the client has heard; <c>unexpected TEXT</c>.
/// </summary>
public static class TxHistoryFile
{
    public static string Begin(string name, long began, IEnumerable<TxStep> steps) =>
        string.Create(CultureInfo.InvariantCulture, $"tx\t{name}\t{began}\t{string.Join(' ', steps.Select(Format))}");

    public static string End(string name, long time, TxFate fate) =>
        string.Create(CultureInfo.InvariantCulture, $"end\t{name}\t{time}\t{fate}");

    public static string Unexpected(Exception e) => $"unexpected\t{e.ToString().ReplaceLineEndings(" ")}";

    /// <param name="unexpected">Gets what clients did not expect.</param>
    public static List<TxRecord> Read(IEnumerable<string> files, ICollection<string> unexpected)
    {
        var transactions = new List<TxRecord>();
        foreach (var file in files)
        {
            var begun = new Dictionary<string, TxRecord>();
            foreach (var line in WholeLines(File.ReadAllText(file)))
            {
                switch (line.Split('\t'))
                {
                    case ["tx", var name, var time, var steps]:
                        TxStep[] parsed = [.. steps.Split(' ', StringSplitOptions.RemoveEmptyEntries).Select(Parse)];
                        begun.Add(name, new TxRecord(name, Number(time), long.MaxValue, TxFate.InDoubt, parsed));
                        break;
                    case ["end", var name, var time, var fate]:
                        var known = begun[name];
                        var heard = Enum.Parse<TxFate>(fate);
                        // In doubt, it may still take effect.
                        var ended = heard == TxFate.InDoubt ? long.MaxValue : Number(time);
                        begun[name] = known with { Ended = ended, Fate = heard };
                        break;
                    case ["unexpected", var text]:
                        unexpected.Add($"{Path.GetFileNameWithoutExtension(file)}: {text}");
                        break;
                    default:
                        throw new InvalidDataException($"{file}: {line}");
                }
            }

            transactions.AddRange(begun.Values);
        }

        return transactions;
    }

    // A kill may tear the last line: what it would have said was not sent, or not heard.
    private static IEnumerable<string> WholeLines(string text) =>
        text[..(text.LastIndexOf('\n') + 1)].Split('\n', StringSplitOptions.RemoveEmptyEntries);

    private static string Format(TxStep step) => $"{(step.IsAppend ? 'a' : 'r')}:{step.List}:{string.Join(
        ',', step.Values.Select(v => v.ToString(CultureInfo.InvariantCulture)))}";

    private static TxStep Parse(string text)
    {
        var parts = text.Split(':');
        return new TxStep(parts[0] == "a", parts[1],
            [.. parts[2].Split(',', StringSplitOptions.RemoveEmptyEntries).Select(Number)]);
    }

    private static long Number(string text) => long.Parse(text, CultureInfo.InvariantCulture);
}
