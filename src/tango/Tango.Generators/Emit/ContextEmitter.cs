using Microsoft.CodeAnalysis.CSharp;

namespace Tango.Generators;

/// <summary>Writes the other half of a [TangoContext] class: constructor, opening, and the properties.</summary>
internal static class ContextEmitter
{
    private const string Ns = "global::Tango";

    public static string Emit(ContextModel model)
    {
        var code = new CodeWriter();
        if (!model.IsWhole)
        {
            code.OpenType(model.Shell, "");
            foreach (ContextMember member in model.Members) code.Line($"{member.Declaration} => throw null!;");
            code.CloseAll();
            return code.ToString();
        }

        string self = model.Shell.Self;
        code.OpenType(model.Shell, $" : {Ns}.ITangoContext<{self}>");
        foreach (ContextMember member in model.Members)
            code.Line($"private readonly {member.Type} __{member.Property};");
        code.Line();
        code.Open($"private {self}({Ns}.TangoContextBuilder __builder) : base(__builder)");
        foreach (ContextMember member in model.Members)
            code.Line($"__{member.Property} = __builder.Add<{member.Type}>({Literal(member.Member)});");
        code.Close();
        foreach (ContextMember member in model.Members)
        {
            code.Line();
            code.Line($"{member.Declaration} => __{member.Property};");
        }
        code.Line();
        code.Line($"static string {Ns}.ITangoContext<{self}>.DefaultName => {Literal(model.Name)};");
        code.Line();
        code.Line($"/// <inheritdoc cref=\"{Ns}.ITangoContext{{TSelf}}.OpenAsync\"/>");
        code.Line($"public static global::System.Threading.Tasks.ValueTask<{self}> OpenAsync(");
        code.Line($"    {Ns}.TangoRuntime runtime, string? name = null,");
        code.Line("    global::System.Threading.CancellationToken cancellationToken = default) =>");
        code.Line(
            $"    {Ns}.TangoContextBuilder.OpenAsync(runtime, name ?? {Literal(model.Name)}, "
            + $"{(model.IsGroup ? "true" : "false")},");
        code.Line($"        static __builder => new {self}(__builder), cancellationToken);");
        code.CloseAll();
        return code.ToString();
    }

    private static string Literal(string text) => SymbolDisplay.FormatLiteral(text, quote: true);
}
