using Orleans.Runtime;

namespace Corfu.Orleans;

/// <summary>Grain ids as keys of objects.</summary>
internal static class GrainKeys
{
    private const char Replacement = '\uFFFD';

    /// <exception cref="CorfuOrleansException">The id is not text, so that two ids could have one key.</exception>
    public static string Of(GrainId grain)
    {
        var text = grain.ToString();
        if (text.Contains(Replacement, StringComparison.Ordinal) && GrainId.Parse(text) != grain)
            throw new CorfuOrleansException($"The key of grain {grain} is not UTF-8 text; Corfu cannot store it.");
        return text;
    }

    /// <summary>A grain may have several states; names and ids stay apart whatever characters they have.</summary>
    public static string Of(string stateName, GrainId grain) => ObjectNames.Escape(stateName) + "/" + Of(grain);
}
