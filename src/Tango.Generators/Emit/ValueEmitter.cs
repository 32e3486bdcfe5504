namespace Tango.Generators;

/// <summary>Writes the formatter of a [TangoValue] type and its registration.</summary>
internal static class ValueEmitter
{
    private const string Formatting = "global::Tango.Formatting";

    public static string Emit(ValueModel model)
    {
        var code = new CodeWriter();
        string formatter = $"{model.FormatterName}Formatter";
        code.FileHeader();
        code.Open("namespace Tango.Generated");
        code.Open(
            $"internal sealed class {formatter}{model.TypeParameters} : "
            + $"{Formatting}.ITangoFormatter<{model.Type}>{model.Constraints}");
        Fields(code, model);
        Write(code, model);
        Read(code, model);
        code.Close();
        code.Line();
        code.Open($"file static class {formatter}Registration");
        code.Line("[global::System.Runtime.CompilerServices.ModuleInitializer]");
        code.Open("internal static void Register()");
        if (model.OpenType is null)
        {
            code.Line($"{Formatting}.TangoFormatters.RegisterGenerated<{model.Type}>(new {formatter}());");
        }
        else
        {
            string open = $"{formatter}<{new string(',', model.TypeParameters.Count(c => c == ','))}>";
            code.Line($"{Formatting}.TangoFormatters.RegisterGeneric(typeof({model.OpenType}), typeof({open}));");
        }
        code.CloseAll();
        return code.ToString();
    }

    private static void Fields(CodeWriter code, ValueModel model)
    {
        for (int i = 0; i < model.Slots.Count; i++)
        {
            if (model.Slots[i].Name is not null)
                code.Line($"private {Formatting}.ITangoFormatter<{model.Slots[i].Type}> _{i} = null!;");
        }
        code.Line();
        code.Line("public bool IsVersionKey { get; private set; }");
        code.Line();
        code.Open("public void Resolve()");
        string keys = model.HasValueEquality ? "true" : "false";
        for (int i = 0; i < model.Slots.Count; i++)
        {
            if (model.Slots[i].Name is null) continue;
            code.Line($"_{i} = {Formatting}.TangoFormatters.Get<{model.Slots[i].Type}>();");
            keys += $" && _{i}.IsVersionKey";
        }
        code.Line($"IsVersionKey = {keys};");
        code.Close();
    }

    private static void Write(CodeWriter code, ValueModel model)
    {
        code.Line();
        code.Open($"public void Write(ref {Formatting}.MessagePackWriter writer, {model.Type} value)");
        if (model.IsReference)
        {
            code.Open("if (value is null)");
            code.Line("writer.WriteNil();");
            code.Line("return;");
            code.Close();
        }
        if (model.IsOpen)
        {
            code.Line($"if (value.GetType() != typeof({model.Type.TrimEnd('?')}))");
            code.Line(
                $"    throw new global::Tango.TangoFormatException({Formatting}.FormatError.NoFormatter, "
                + $"$\"{{value.GetType()}} cannot be written as {{typeof({model.Type})}}\");");
        }
        code.Line("writer.Enter();");
        code.Line($"writer.WriteArrayHeader({model.Slots.Count});");
        for (int i = 0; i < model.Slots.Count; i++)
            code.Line(model.Slots[i].Name is { } name
                ? $"_{i}.Write(ref writer, value.{name});"
                : "writer.WriteNil();");
        code.Line("writer.Leave();");
        code.Close();
    }

    private static void Read(CodeWriter code, ValueModel model)
    {
        code.Line();
        code.Open($"public {model.Type} Read(ref {Formatting}.MessagePackReader reader)");
        if (model.IsReference) code.Line("if (reader.TryReadNil()) return null!;");
        code.Line("int count = reader.ReadArrayHeader();");
        code.Line("reader.Enter();");
        for (int i = 0; i < model.Slots.Count; i++)
        {
            SlotModel slot = model.Slots[i];
            if (slot.Name is null) code.Line($"if (count > {i}) reader.Skip();");
            else code.Line($"{slot.Type} m{i} = count > {i} ? _{i}.Read(ref reader) : {slot.Default};");
        }
        code.Line("// Members that a newer version of the type has added.");
        code.Line($"for (int i = {model.Slots.Count}; i < count; i++) reader.Skip();");
        code.Line("reader.Leave();");
        string arguments = string.Join(", ", model.ConstructorSlots.Select(i => $"m{i}"));
        IEnumerable<string> setters = model.Slots
            .Select((slot, i) => (slot, i)).Where(s => s.slot.Name is not null && s.slot.SetByInitializer)
            .Select(s => $"{s.slot.Name} = m{s.i}");
        string initializer = setters.Any() ? $" {{ {string.Join(", ", setters)} }}" : "";
        code.Open("try");
        code.Line($"return new {model.Type}({arguments}){initializer};");
        code.Close();
        code.Open("catch (global::System.ArgumentException e)");
        code.Line($"throw reader.Error({Formatting}.FormatError.Invalid, e.Message, e);");
        code.Close();
        code.Close();
    }
}
