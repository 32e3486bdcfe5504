namespace Corfu;

/// <summary>Checks options and reports all their faults in one message.</summary>
public static class OptionRules
{
    /// <exception cref="ArgumentException">Names every option whose condition does not hold.</exception>
    public static void Check(string options, params ReadOnlySpan<(string Name, bool Holds)> conditions)
    {
        List<string>? faults = null;
        foreach (var (name, holds) in conditions)
        {
            if (!holds) (faults ??= []).Add(name);
        }

        if (faults is not null) throw new ArgumentException($"Out of range in {options}: {string.Join(", ", faults)}.");
    }
}
