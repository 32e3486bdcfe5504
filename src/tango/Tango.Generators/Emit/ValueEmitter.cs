namespace Tango.Generators;

/// <summary>Writes the formatter of a [MessagePackObject] type and its registration.</summary>
internal static class ValueEmitter
{
    private const string Formatting = "global::Tango.Formatting";
    private const string Pack = "global::MessagePack";

    public static string Emit(ValueModel model)
    {
        var code = new CodeWriter();
        string formatter = $"{model.FormatterName}Formatter";
        code.FileHeader();
        bool isGeneric = model.TypeParameters.Length > 0;
        // Other projects construct it for their type arguments.
        bool isPublic = isGeneric && model.IsPublic;
        if (isPublic) code.Line("#pragma warning disable CS1591");
        code.Open($"namespace {Names.Generated}");
        if (isPublic)
            code.Line(
                "[global::System.ComponentModel.EditorBrowsable("
                + "global::System.ComponentModel.EditorBrowsableState.Never)]");
        code.Open(
            $"{(isPublic ? "public" : "internal")} sealed class {formatter}{model.TypeParameters} : "
            + $"{Pack}.Formatters.IMessagePackFormatter<{model.Nullable}>, {Formatting}.IGeneratedFormatter"
            + model.Constraints);
        Closed(code, model, formatter);
        Facts(code, model);
        Write(code, model);
        Read(code, model);
        code.Close();
        if (!isGeneric) Registration(code, model, formatter);
        code.CloseAll();
        return code.ToString();
    }

    /// <summary>Whatever makes the formatter makes those of its members known.</summary>
    private static void Closed(CodeWriter code, ValueModel model, string formatter)
    {
        if (model.Closed.Count == 0) return;
        code.Open($"static {formatter}()");
        foreach (string statement in model.Closed) code.Line(statement);
        code.Close();
        code.Line();
    }

    private static void Registration(CodeWriter code, ValueModel model, string formatter)
    {
        code.Line();
        code.Open($"file static class {formatter}Registration");
        code.Line("[global::System.Runtime.CompilerServices.ModuleInitializer]");
        code.Open("internal static void Register()");
        code.Line($"{Formatting}.TangoFormatters.RegisterGenerated<{model.Nullable}>(new {formatter}());");
        code.Close();
        code.Close();
    }

    private static void Facts(CodeWriter code, ValueModel model)
    {
        IEnumerable<string> types = model.Slots.Where(slot => slot.Name is not null)
            .Select(slot => $"typeof({slot.PlainType})").Distinct();
        code.Line(
            $"public global::System.Collections.Generic.IReadOnlyList<global::System.Type> Members {{ get; }} = "
            + $"[{string.Join(", ", types)}];");
        code.Line();
        code.Line($"public bool HasValueEquality => {(model.HasValueEquality ? "true" : "false")};");
        if (!model.IsImmutable) return;
        code.Line();
        code.Line("public bool IsImmutable => true;");
    }

    private static void Write(CodeWriter code, ValueModel model)
    {
        code.Line();
        code.Open(
            $"public void Serialize(ref {Pack}.MessagePackWriter writer, {model.Nullable} value, "
            + $"{Pack}.MessagePackSerializerOptions options)");
        if (model.IsReference)
        {
            code.Open("if (value is null)");
            code.Line("writer.WriteNil();");
            code.Line("return;");
            code.Close();
        }
        if (model.IsReference)
            code.Line("global::System.Runtime.CompilerServices.RuntimeHelpers.EnsureSufficientExecutionStack();");
        if (model.IsOpen)
        {
            code.Line($"if (value.GetType() != typeof({model.Type.TrimEnd('?')}))");
            code.Line(
                $"    throw new global::Tango.TangoFormatException({Formatting}.FormatError.NoFormatter, "
                + $"$\"{{value.GetType()}} cannot be written as {{typeof({model.Type})}}\");");
        }
        code.Line($"writer.WriteArrayHeader({model.Slots.Count});");
        for (int i = 0; i < model.Slots.Count; i++)
            code.Line(model.Slots[i].Name is { } name
                ? $"{Formatter(model.Slots[i])}.Serialize(ref writer, value.{name}, options);"
                : "writer.WriteNil();");
        code.Close();
    }

    private static void Read(CodeWriter code, ValueModel model)
    {
        code.Line();
        code.Open(
            $"public {model.Nullable} Deserialize(ref {Pack}.MessagePackReader reader, "
            + $"{Pack}.MessagePackSerializerOptions options)");
        if (model.IsReference) code.Line("if (reader.TryReadNil()) return null!;");
        code.Line($"int count = {Formatting}.StrictMessagePack.ReadCount(ref reader);");
        code.Line("options.Security.DepthStep(ref reader);");
        for (int i = 0; i < model.Slots.Count; i++)
        {
            SlotModel slot = model.Slots[i];
            if (slot.Name is null)
                code.Line($"if (count > {i}) {Formatting}.StrictMessagePack.SkipValue(ref reader);");
            else
                code.Line($"{slot.Type} m{i} = count > {i} ? {Formatter(slot)}.Deserialize(ref reader, options) "
                    + $": {slot.Default};");
        }
        code.Line("// Members that a newer version of the type has added.");
        code.Line(
            $"for (int i = {model.Slots.Count}; i < count; i++) {Formatting}.StrictMessagePack.SkipValue(ref reader);");
        code.Line("reader.Depth--;");
        string arguments = string.Join(", ", model.ConstructorSlots.Select(i => $"m{i}"));
        IEnumerable<string> setters = model.Slots
            .Select((slot, i) => (slot, i)).Where(s => s.slot.Name is not null && s.slot.SetByInitializer)
            .Select(s => $"{s.slot.Name} = m{s.i}");
        string initializer = setters.Any() ? $" {{ {string.Join(", ", setters)} }}" : "";
        code.Line($"return new {model.Type}({arguments}){initializer};");
        code.Close();
    }

    private static string Formatter(SlotModel slot) => $"{Formatting}.TangoFormatters.Get<{slot.Type}>()";
}
